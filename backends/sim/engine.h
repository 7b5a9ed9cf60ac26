// SPDX-License-Identifier: Apache-2.0
// The copy engine of a device: one thread that takes work off the device's lanes.
#pragma once

#include <chrono>
#include <condition_variable>
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

#include "sim/fence.h"
#include "sim/pages.h"

namespace arrowdevice::sim {

// One piece of a copy, checked already. The pages are NULL for host memory.
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
  bool doomed;  // it fails although the work before it did not
};

struct WaitWork {
  std::shared_ptr<Fence> fence;
};

using Work = std::variant<CopyWork, FireWork, WaitWork>;

// Work in order. What follows a failure in a lane fails as well, until the engine recovers.
class SubmissionQueue {
 private:
  friend class Engine;

  struct Submission {
    Work work;
    std::chrono::steady_clock::time_point earliest;
  };
  std::deque<Submission> pending_;      // guarded by the engine's mutex
  std::optional<std::string> failure_;  // used by the engine's thread only, as is the next
  int64_t life_ = 0;                    // of the engine, in which it failed
  std::chrono::steady_clock::time_point waited_until_{};
};

// A lane that waits holds up no other. Thread-safety: free, but for the calls on one lane.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  explicit Engine(std::string owner) : owner_(std::move(owner)) {}

  // Starts the thread at first need. Throws Error(EIO) once the device is lost.
  void submit(const std::shared_ptr<SubmissionQueue>& lane, Work work);

  void set_pace(int64_t latency_us, int64_t bandwidth);

  // Nothing proceeds between the return of hold() and resume(): the thread, if there is one, waits. What it has in hand
  // it finishes first.
  void hold();
  void resume();

  // All that is pending, and all that comes, fails.
  void lose();
  void check_not_lost() const;

  // Ends what is pending as failed, then begins a new life: not held, not lost, with no lane failed.
  void recover();

  // Ends the thread. Returns false, and does nothing, while there is work.
  bool stop();

 private:
  // What the thread needs to know while it works without the lock.
  struct State {
    int64_t life = 0;
    int64_t bandwidth = 0;
    bool lost = false;
    std::chrono::steady_clock::time_point going_since{};  // when the pace was set or the engine was last resumed
  };

  void start();
  void run();
  std::shared_ptr<SubmissionQueue> next_lane(std::chrono::steady_clock::time_point& wake_at);
  bool can_run(const SubmissionQueue::Submission& submission, std::chrono::steady_clock::time_point& wake_at) const;
  void wake();
  void execute(SubmissionQueue& lane, const SubmissionQueue::Submission& submission, const State& state);
  void transfer(SubmissionQueue& lane, const CopyWork& copy, std::chrono::steady_clock::time_point ready,
                int64_t bandwidth);

  const std::string owner_;
  mutable std::mutex mutex_;  // guards all below; never held while a fence finishes or bytes move
  std::condition_variable changed_;
  std::vector<std::shared_ptr<SubmissionQueue>> lanes_;  // those with pending work, the next one first
  State state_;
  std::chrono::microseconds latency_{0};
  std::chrono::steady_clock::time_point link_free_{};  // used by the thread only
  bool started_ = false;
  bool busy_ = false;
  bool idle_ = false;  // the thread waits for a change
  bool held_ = false;
  bool stopped_ = false;
};

}  // namespace arrowdevice::sim
