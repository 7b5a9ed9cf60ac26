// SPDX-License-Identifier: Apache-2.0
// Events of the backend table: positions in a submission queue, and foreign VkEvents.
#pragma once

#include <memory>

#include "vulkan/submission_queue.h"

namespace arrowdevice::vulkan {

class Device;

class Event {
 public:
  virtual ~Event() = default;

  // Throws EIO if the work failed.
  virtual bool is_ready() = 0;
  // Returns false if the deadline passes first.
  virtual bool wait(const Deadline& deadline) = 0;
  // Orders the later submissions of `queue`, a queue of `device`, after this event. May block.
  virtual void hold_up(Device& device, const std::shared_ptr<SubmissionQueue>& queue) = 0;
  // Returns the VkEvent*, which is valid as long as this event. Throws ENOTSUP for a foreign VkEvent.
  virtual void* publish() = 0;
};

// The work of a submission queue up to a submission.
class RecordedEvent final : public Event {
 public:
  RecordedEvent(Device& device, std::shared_ptr<SubmissionQueue> queue, uint64_t number)
      : device_(device), queue_(std::move(queue)), number_(number) {}
  ~RecordedEvent() override;

  bool is_ready() override { return queue_->is_done(number_); }
  bool wait(const Deadline& deadline) override { return queue_->wait(number_, deadline); }
  void hold_up(Device& device, const std::shared_ptr<SubmissionQueue>& queue) override;
  void* publish() override;

 private:
  void set_event();
  bool set_event_on(const std::shared_ptr<SubmissionQueue>& queue);

  Device& device_;
  const std::shared_ptr<SubmissionQueue> queue_;
  const uint64_t number_;
  std::mutex publishing_;
  std::shared_ptr<UniqueEvent> published_;  // also referenced by the submission that sets it
  VkEvent handle_ = VK_NULL_HANDLE;         // target of sync_event
};

// A VkEvent of another producer. It is polled, because Vulkan waits for events only in commands, and commands cannot
// wait for an event that the host sets.
class ForeignEvent final : public Event {
 public:
  ForeignEvent(const LogicalDevice& device, VkEvent event) : device_(device), event_(event) {}

  bool is_ready() override;
  bool wait(const Deadline& deadline) override;
  void hold_up(Device& device, const std::shared_ptr<SubmissionQueue>& queue) override;
  void* publish() override;

 private:
  const LogicalDevice& device_;
  const VkEvent event_;
};

}  // namespace arrowdevice::vulkan
