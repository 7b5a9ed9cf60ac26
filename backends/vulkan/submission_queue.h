// SPDX-License-Identifier: Apache-2.0
// A queue of the library: numbered submissions to a VkQueue, which end in order. Lives until they have.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "vulkan/host_writes.h"
#include "vulkan/native_queue.h"
#include "vulkan/submission.h"

namespace arrowdevice::vulkan {

class SubmissionQueue;

// Commands being recorded on a lane, which nobody else records on meanwhile. Ends with submit() or without a trace.
class Batch {
 public:
  explicit Batch(SubmissionQueue& lane);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  VkCommandBuffer commands() const noexcept { return submission_.commands; }
  Submission& submission() noexcept { return submission_; }

  // To be signalled when it is done; it is kept until then.
  void signal(std::shared_ptr<UniqueSemaphore> semaphore) { signalled_.push_back(std::move(semaphore)); }

  // Its number. Nothing was submitted if this throws.
  uint64_t submit();

  // As submit(), on a lane that may be closed by another thread meanwhile: nothing if it was.
  std::optional<uint64_t> try_submit();

 private:
  friend class SubmissionQueue;

  void abandon() noexcept;

  SubmissionQueue& lane_;
  std::unique_lock<std::mutex> recording_;
  Submission submission_;
  std::vector<std::shared_ptr<UniqueSemaphore>> signalled_;
};

// All functions may be called from any thread.
class SubmissionQueue : public std::enable_shared_from_this<SubmissionQueue> {
 public:
  // `borrowed`: the queue is the application's, which submits to it too.
  SubmissionQueue(const LogicalDevice& device, NativeQueue& queue, Staging& staging, bool has_timeline, bool borrowed);
  ~SubmissionQueue();

  NativeQueue& queue() const noexcept { return queue_; }
  bool is_borrowed() const noexcept { return borrowed_; }

  // The number of a submission, 0 before the first, whose end is the end of the work so far. What it waits for, and
  // what the application may have submitted, counts: for these a submission without commands is made.
  uint64_t record();

  // The number of the last submission.
  uint64_t last();

  // Submissions from here on come after one of another lane.
  void wait_for(const std::shared_ptr<SubmissionQueue>& other, uint64_t number);

  // Throws EIO if the device is lost. What was downloaded is in its place once this says true.
  bool is_done(uint64_t number) { return is_done(number, 0); }
  bool wait(uint64_t number, const Deadline& deadline);

  // Nothing is in flight, nor waited for.
  bool is_idle();

  // Until all that was submitted so far is done.
  void keep(std::shared_ptr<const void> object);

  // Whether a submission up to `number` has bytes that the CPU is still to fetch.
  bool has_downloads(uint64_t number);

  // Waits until nothing in flight writes these bytes of host memory.
  void settle(uintptr_t begin, uintptr_t end);

  // How many staging blocks are in flight, and the oldest submission that has some.
  size_t blocks_in_flight();
  void wait_for_blocks();

  // From here on nothing is submitted, by whatever thread: an application's queue is not touched any more.
  void close() noexcept;
  // Lets go of everything in flight: it is done, or the device is lost.
  void drop() noexcept;

 private:
  friend class Batch;

  struct Wait {
    std::shared_ptr<SubmissionQueue> lane;
    uint64_t number;
    // NULL where one VkQueue orders both; else the lane's timeline, or a binary one for this wait alone.
    std::shared_ptr<UniqueSemaphore> semaphore;
  };

  VkCommandBuffer take_commands();
  std::optional<uint64_t> try_submit(Batch& batch);
  bool wait_for_timeline(uint64_t number, uint64_t timeout_ns);
  bool wait_natively(uint64_t number, int64_t timeout_ns);
  // `waited_for`: a number that a wait of this thread has said is reached, or 0.
  bool is_done(uint64_t number, uint64_t waited_for);
  // How far the device is.
  uint64_t reached(uint64_t waited_for);
  // Ends the submissions that are over.
  void collect(uint64_t waited_for = 0);
  void finish(const Submission& submission);

  const LogicalDevice& device_;
  NativeQueue& queue_;
  Staging& staging_;
  const bool borrowed_;
  const std::shared_ptr<UniqueSemaphore> timeline_;  // NULL: fences

  std::mutex recording_;  // around the command pool; taken before mutex_
  const UniqueCommandPool pool_;

  std::mutex mutex_;  // guards what follows; never held while waiting
  std::vector<VkCommandBuffer> free_commands_;
  std::deque<Submission> in_flight_;
  std::vector<Wait> waits_;  // of the next submission
  HostWrites host_writes_;
  bool closed_ = false;
  uint64_t last_ = 0;      // submitted
  uint64_t finished_ = 0;  // done, and downloaded
};

}  // namespace arrowdevice::vulkan
