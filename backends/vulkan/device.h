// SPDX-License-Identifier: Apache-2.0
// A device of the backend: a VkDevice with its memory, its queues and its published events.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/host_import.h"
#include "vulkan/published_events.h"
#include "vulkan/setup.h"
#include "vulkan/shareable.h"

namespace arrowdevice::vulkan {

// All functions are thread-safe.
class Device {
 public:
  explicit Device(Setup setup);
  ~Device();

  int64_t id() const noexcept { return setup_.id; }
  bool is_wrapped() const noexcept { return setup_.wrapped; }
  const LogicalDevice& logical() const noexcept { return *setup_.logical; }
  const PhysicalDevice& physical() const noexcept { return setup_.physical; }

  Buffers& buffers() noexcept { return buffers_; }
  const HostImporter& importer() const noexcept { return importer_; }
  Staging& staging() noexcept { return staging_; }
  PublishedEvents& published() noexcept { return published_; }
  Sharing sharing() const noexcept { return sharing_; }

  // `user` may be NULL. The work enqueued on `user` so far may still use the buffer.
  void deallocate(VkBuffer buffer, SubmissionQueue* user);

  void describe(arrowdevice_device_info& out) const;
  void memory(int64_t* free_bytes, int64_t* total_bytes) const;

  // Lends the native handles. They are valid as long as the device.
  void native(arrowdevice_native_device& out);

  std::shared_ptr<SubmissionQueue> make_queue();
  // Wraps an application's queue. Throws EINVAL if the queue's family is not opened.
  std::shared_ptr<SubmissionQueue> wrap(VkQueue queue, uint32_t family);
  // Ends a queue. The device keeps the submissions that are still in flight.
  void end_queue(std::shared_ptr<SubmissionQueue> queue) noexcept;
  // Returns the queue that sets events for queues that cannot set them. Nobody waits for its submissions, so this call
  // ends those that are finished.
  std::shared_ptr<SubmissionQueue> publishing_queue();

  // Waits, if the device is lost, before memory is freed that the device may still write.
  void settle_if_lost() noexcept;
  // Waits for all work in flight, unless the device is lost.
  void drain();
  // Frees the staging memory that is not in use, and the objects of finished work.
  void trim() noexcept;

 private:
  NativeQueue& queue_for_copies();
  // Returns the queue for a VkQueue, or the first queue if the handle is unknown.
  NativeQueue& known_queue(const void* handle);
  NativeQueue* find_queue(const void* handle) const;
  std::shared_ptr<SubmissionQueue> add_queue(NativeQueue& native, bool borrowed);
  std::vector<std::shared_ptr<SubmissionQueue>> all_queues();

  const Setup setup_;
  Buffers buffers_;
  const Sharing sharing_;
  const HostImporter importer_;
  Staging staging_;
  PublishedEvents published_;
  std::vector<const char*> extension_names_;

  std::mutex mutex_;                                  // guards the members below
  std::vector<std::unique_ptr<NativeQueue>> queues_;  // queues of the device
  // the application's other queues; only the submission queues that wrap them use them
  std::vector<std::unique_ptr<NativeQueue>> wrapped_;
  size_t next_queue_ = 0;
  std::vector<std::weak_ptr<SubmissionQueue>> submission_queues_;
  std::vector<std::shared_ptr<SubmissionQueue>> ending_;  // destroyed with work in flight
  std::shared_ptr<SubmissionQueue> publishing_;
  std::vector<std::shared_ptr<const void>> abandoned_;
  bool settled_ = false;
};

}  // namespace arrowdevice::vulkan
