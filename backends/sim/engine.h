// SPDX-License-Identifier: Apache-2.0
// The copy engine of a device: one thread that runs the work of the device's queues.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/condition_variable.h"
#include "sim/fence.h"
#include "sim/pages.h"

namespace arrowdevice::sim {

// A checked piece of a copy. The pages are NULL for host memory.
struct Transfer {
  std::shared_ptr<Pages> to_pages, from_pages;
  std::byte* to;
  const std::byte* from;
  int64_t size;
};

struct CopyWork {
  std::vector<Transfer> transfers;
};

struct FireWork {
  std::shared_ptr<Fence> fence;
  bool doomed;  // true if it fails although the work before it succeeded
};

struct WaitWork {
  std::shared_ptr<Fence> fence;
};

using Work = std::variant<CopyWork, FireWork, WaitWork>;

// Work in order. After a failure, all later work of the queue fails until the engine recovers.
class SubmissionQueue {
 private:
  friend class Engine;

  struct Submission {
    Work work;
    std::chrono::steady_clock::time_point earliest;
  };
  std::deque<Submission> pending_;      // guarded by the engine's mutex
  std::optional<std::string> failure_;  // only the engine's thread uses this and the next two members
  int64_t life_ = 0;                    // the engine's life in which the failure happened
  std::chrono::steady_clock::time_point waited_until_{};
};

// A waiting queue does not delay other queues. All functions are thread-safe, but calls for one queue must not overlap.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  explicit Engine(std::string owner) : owner_(std::move(owner)) {}

  // Submits work. The first call starts the thread. Throws Error(EIO) if the device is lost.
  void submit(const std::shared_ptr<SubmissionQueue>& queue, Work work);

  void set_pace(int64_t latency_us, int64_t bandwidth);

  // Stops all work until resume(). The thread finishes its current work first.
  void hold();
  void resume();

  // Makes all pending and later work fail.
  void lose();
  void check_not_lost() const;
  bool is_lost() const;

  // Fails all pending work and starts a new life: the engine is not held or lost, and no queue has failed.
  void recover();

  // Returns the batches of copies that have not finished.
  int64_t copies_in_flight() const;

  // Ends the thread. Does nothing and returns false if there is work.
  bool stop();

 private:
  // A copy of this state is used while the thread works without the lock.
  struct State {
    int64_t life = 0;
    int64_t bandwidth = 0;
    bool lost = false;
    std::chrono::steady_clock::time_point going_since{};  // time of the last set_pace() or resume()
  };

  void start();
  void run();
  std::shared_ptr<SubmissionQueue> next_queue(std::chrono::steady_clock::time_point& wake_at);
  bool can_run(const SubmissionQueue::Submission& submission, std::chrono::steady_clock::time_point& wake_at) const;
  void wake();
  void execute(SubmissionQueue& queue, const SubmissionQueue::Submission& submission, const State& state);
  void transfer(SubmissionQueue& queue, const CopyWork& copy, std::chrono::steady_clock::time_point ready,
                int64_t bandwidth);

  const std::string owner_;
  mutable std::mutex mutex_;  // guards all members below; never held while a fence finishes or bytes move
  ConditionVariable changed_;
  std::vector<std::shared_ptr<SubmissionQueue>> queues_;  // queues with pending work; the next queue is first
  State state_;
  std::chrono::microseconds latency_{0};
  std::chrono::steady_clock::time_point link_free_{};  // only the thread uses it
  bool started_ = false;
  bool busy_ = false;
  bool copying_ = false;  // busy with a copy
  bool idle_ = false;     // the thread waits for a change
  bool held_ = false;
  bool stopped_ = false;
};

}  // namespace arrowdevice::sim
