// SPDX-License-Identifier: Apache-2.0
// A queue of the library. It submits numbered batches to a VkQueue, which finish in order, and lives until they finish.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "vulkan/fences.h"
#include "vulkan/logical_device.h"
#include "vulkan/native_queue.h"
#include "vulkan/staging.h"

namespace arrowdevice::vulkan {

class SubmissionQueue;

// Host memory that a copy in flight will write. The CPU must wait for the copy before it reads the memory, because a
// queue is in order.
struct HostWrite {
  uintptr_t begin;
  uintptr_t end;
  std::shared_ptr<SubmissionQueue> queue;  // NULL for the queue that keeps the list
  uint64_t number;                         // number of the submission that writes
};

using HostWrites = std::vector<HostWrite>;

// Bytes that the CPU copies from staging memory when the commands are done.
struct Download {
  const Memory* from;
  VkDeviceSize offset;
  void* to;
  VkDeviceSize size;
};

// A submission to a queue: its commands, and the objects that must live until they are done.
struct Submission {
  uint64_t number = 0;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  std::shared_ptr<UniqueFence> fence;  // set if there are no timeline semaphores
  std::vector<Staging::Block> blocks;
  std::vector<Download> downloads;
  std::vector<std::shared_ptr<const void>> kept;  // semaphores, events, host pages
  std::vector<HostWrite> host_writes;             // host memory that the submission changes, including downloads
};

// Commands that are being recorded on a queue. Only one thread records on a queue at a time. A batch that is not
// submitted has no effect.
class Batch {
 public:
  explicit Batch(SubmissionQueue& queue);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  VkCommandBuffer commands() const noexcept { return submission_.commands; }
  Submission& submission() noexcept { return submission_; }

  // Signals the semaphore when the batch is done. The batch holds a reference until then.
  void signal(std::shared_ptr<UniqueSemaphore> semaphore) { signalled_.push_back(std::move(semaphore)); }

  // Returns the number of the submission. If the function throws, the batch is not submitted.
  uint64_t submit();

  // Submits as submit() does. Returns nullopt if another thread has closed the queue.
  std::optional<uint64_t> try_submit();

 private:
  friend class SubmissionQueue;

  void abandon() noexcept;

  SubmissionQueue& queue_;
  std::unique_lock<std::mutex> recording_;
  Submission submission_;
  std::vector<std::shared_ptr<UniqueSemaphore>> signalled_;
};

// All functions are thread-safe.
class SubmissionQueue : public std::enable_shared_from_this<SubmissionQueue> {
 public:
  // `borrowed` is true if the application submits to the queue too.
  SubmissionQueue(const LogicalDevice& device, NativeQueue& native, Staging& staging, bool has_timeline, bool borrowed);
  ~SubmissionQueue();

  NativeQueue& native() const noexcept { return native_; }
  bool is_borrowed() const noexcept { return borrowed_; }

  // Lets the application submit to the queue too. Its submissions run after the waits so far.
  void lend();

  // Returns the number of the submission that ends all work so far, or 0 before the first submission. This work
  // includes pending waits and submissions of the application. In both cases the function makes an empty submission.
  uint64_t record();

  // Returns the number of the last submission.
  uint64_t last();

  // Orders later submissions after submission `number` of `other`, including those of the application.
  void wait_for(const std::shared_ptr<SubmissionQueue>& other, uint64_t number);

  // Throws EIO if the device is lost. When the function returns true, downloads are complete.
  bool is_done(uint64_t number) { return is_done(number, 0); }
  bool wait(uint64_t number, const Deadline& deadline);

  // Ends the finished submissions, which frees the objects that they hold. Throws EIO if the device is lost.
  void collect() { collect(0); }

  // Returns true if no submission is in flight and no wait is pending.
  bool is_idle();

  // Holds a reference to `object` until all submissions so far are done.
  void keep(std::shared_ptr<const void> object);

  // Returns true if a submission up to `number` has bytes that the CPU has not copied yet.
  bool has_downloads(uint64_t number);

  // Waits until no submission in flight writes these bytes of host memory.
  void settle(uintptr_t begin, uintptr_t end);

  // blocks_in_flight() returns the number of staging blocks in flight. wait_for_blocks() waits for the oldest
  // submission that has blocks.
  size_t blocks_in_flight();
  void wait_for_blocks();

  // Stops all threads from submitting. The library no longer uses an application's queue after this call.
  void close() noexcept;
  // Releases everything in flight, which is done unless the device is lost.
  void drop() noexcept;

 private:
  friend class Batch;

  struct Wait {
    std::shared_ptr<SubmissionQueue> queue;
    uint64_t number;
    // NULL if one VkQueue orders both queues. Otherwise the other queue's timeline, or a binary semaphore for this wait
    // alone.
    std::shared_ptr<UniqueSemaphore> semaphore;
  };

  VkCommandBuffer take_commands();
  std::optional<uint64_t> try_submit(Batch& batch);
  bool wait_for_timeline(uint64_t number, uint64_t timeout_ns);
  bool wait_natively(uint64_t number, int64_t timeout_ns);
  // `waited_for` is a number that this thread has waited for successfully, or 0.
  bool is_done(uint64_t number, uint64_t waited_for);
  // Returns the number of the last submission that the device has finished.
  uint64_t reached(uint64_t waited_for);
  void collect(uint64_t waited_for);
  void finish(const Submission& submission);

  const LogicalDevice& device_;
  NativeQueue& native_;
  Staging& staging_;
  std::atomic<bool> borrowed_;
  const std::shared_ptr<UniqueSemaphore> timeline_;  // NULL if fences are used
  const std::shared_ptr<Fences> fences_ = std::make_shared<Fences>(device_);

  std::mutex recording_;  // guards the command pool; taken before mutex_
  const UniqueCommandPool pool_;

  std::mutex mutex_;  // guards the members below; never held during a wait
  std::vector<VkCommandBuffer> free_commands_;
  std::deque<Submission> in_flight_;
  std::vector<Wait> waits_;  // waits of the next submission
  HostWrites host_writes_;
  bool closed_ = false;
  uint64_t last_ = 0;      // last submitted number
  uint64_t finished_ = 0;  // last number that is done and downloaded
};

}  // namespace arrowdevice::vulkan
