// SPDX-License-Identifier: Apache-2.0
// Events as the backend table has them: points in a lane, and VkEvents of others.
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
  // False after the deadline.
  virtual bool wait(const Deadline& deadline) = 0;
  // What `lane`, a lane of `device`, is given later comes after it. May block.
  virtual void hold_up(Device& device, const std::shared_ptr<SubmissionQueue>& lane) = 0;
  // The VkEvent*, alive as long as this. Throws ENOTSUP for one that is a VkEvent of someone else.
  virtual void* publish() = 0;
};

// The work of a lane up to a submission.
class RecordedEvent final : public Event {
 public:
  RecordedEvent(Device& device, std::shared_ptr<SubmissionQueue> lane, uint64_t number)
      : device_(device), lane_(std::move(lane)), number_(number) {}
  ~RecordedEvent() override;

  bool is_ready() override { return lane_->is_done(number_); }
  bool wait(const Deadline& deadline) override { return lane_->wait(number_, deadline); }
  void hold_up(Device& device, const std::shared_ptr<SubmissionQueue>& lane) override;
  void* publish() override;

 private:
  void set_event();
  bool set_event_on(const std::shared_ptr<SubmissionQueue>& lane);

  Device& device_;
  const std::shared_ptr<SubmissionQueue> lane_;
  const uint64_t number_;
  std::mutex publishing_;
  std::shared_ptr<UniqueEvent> published_;  // also kept by the submission that sets it
  VkEvent handle_ = VK_NULL_HANDLE;         // what sync_event points to
};

// A VkEvent of another producer. Vulkan has no wait for one but in commands, and none there for one that the host sets:
// it is polled.
class ForeignEvent final : public Event {
 public:
  ForeignEvent(const LogicalDevice& device, VkEvent event) : device_(device), event_(event) {}

  bool is_ready() override;
  bool wait(const Deadline& deadline) override;
  void hold_up(Device& device, const std::shared_ptr<SubmissionQueue>& lane) override;
  void* publish() override;

 private:
  const LogicalDevice& device_;
  const VkEvent event_;
};

}  // namespace arrowdevice::vulkan
