// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/background.h"
#include "base/error.h"

namespace arrowdevice::sim {

using Clock = std::chrono::steady_clock;

// A duration that the clock can represent with a wide margin.
constexpr double kLongestTransferSeconds = 1e9;

void Engine::submit(const std::shared_ptr<SubmissionQueue>& queue, Work work) {
  check_not_lost();
  // Wakes the engine when the fence finishes. The engine may be destroyed by then.
  if (const auto* wait = std::get_if<WaitWork>(&work)) {
    wait->fence->when_finished([engine = weak_from_this()] {
      if (const auto alive = engine.lock()) alive->wake();
    });
  }
  const std::lock_guard lock(mutex_);
  if (!started_) start();
  // Allocates memory first, because every queue in the list must have work.
  queues_.reserve(queues_.size() + 1);
  queue->pending_.push_back({.work = std::move(work), .earliest = Clock::now() + latency_});
  if (queue->pending_.size() == 1) queues_.push_back(queue);
  changed_.notify_all();
}

void Engine::set_pace(int64_t latency_us, int64_t bandwidth) {
  const std::lock_guard lock(mutex_);
  latency_ = std::chrono::microseconds(latency_us);
  state_.bandwidth = bandwidth;
  state_.going_since = Clock::now();
}

void Engine::hold() {
  std::unique_lock lock(mutex_);
  held_ = true;
  changed_.wait(lock, [this] { return !started_ || idle_; });
}

void Engine::resume() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  state_.going_since = Clock::now();
  changed_.notify_all();
}

void Engine::lose() {
  const std::lock_guard lock(mutex_);
  state_.lost = true;
  changed_.notify_all();
}

void Engine::check_not_lost() const {
  if (is_lost()) throw Error(EIO, owner_ + " was lost");
}

bool Engine::is_lost() const {
  const std::lock_guard lock(mutex_);
  return state_.lost;
}

void Engine::recover() {
  std::unique_lock lock(mutex_);
  held_ = false;
  state_.lost = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return queues_.empty() && !busy_; });
  state_.lost = false;
  ++state_.life;
}

int64_t Engine::copies_in_flight() const {
  const std::lock_guard lock(mutex_);
  int64_t n = copying_ ? 1 : 0;
  for (const auto& queue : queues_) {
    n += std::ranges::count_if(queue->pending_, [](const SubmissionQueue::Submission& submission) {
      return std::holds_alternative<CopyWork>(submission.work);
    });
  }
  return n;
}

bool Engine::stop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_; });  // the thread may still hold work whose fence has fired
  if (!queues_.empty()) return false;
  stopped_ = true;
  changed_.notify_all();
  return true;
}

// The thread is detached and owns the engine. At exit, no object that it uses is destroyed.
void Engine::start() {
  background::start([engine = shared_from_this()] { engine->run(); });
  started_ = true;
}

void Engine::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    auto wake_at = Clock::time_point::max();
    const auto queue = held_ ? nullptr : next_queue(wake_at);
    if (queue == nullptr) {
      idle_ = true;
      if (held_) changed_.notify_all();  // hold() waits for it
      if (wake_at == Clock::time_point::max()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, wake_at);
      }
      idle_ = false;
      continue;
    }
    busy_ = true;
    const State state = state_;
    {
      // The submission and its pages are destroyed before the next fence fires, so that no memory is in use then.
      const SubmissionQueue::Submission submission = std::move(queue->pending_.front());
      queue->pending_.pop_front();
      copying_ = std::holds_alternative<CopyWork>(submission.work);
      if (!queue->pending_.empty()) queues_.push_back(queue);
      lock.unlock();
      execute(*queue, submission, state);
    }
    lock.lock();
    busy_ = false;
    copying_ = false;
    changed_.notify_all();
  }
}

// Removes and returns the first queue that can run. Otherwise sets `wake_at` if a queue waits only for a point in time.
std::shared_ptr<SubmissionQueue> Engine::next_queue(Clock::time_point& wake_at) {
  for (auto place = queues_.begin(); place != queues_.end(); ++place) {
    if (!can_run((*place)->pending_.front(), wake_at)) continue;
    auto queue = *place;
    queues_.erase(place);
    return queue;
  }
  return nullptr;
}

bool Engine::can_run(const SubmissionQueue::Submission& submission, Clock::time_point& wake_at) const {
  if (state_.lost) return true;
  if (submission.earliest > Clock::now()) {
    wake_at = std::min(wake_at, submission.earliest);
    return false;
  }
  const auto* wait = std::get_if<WaitWork>(&submission.work);
  return wait == nullptr || wait->fence->finished();
}

void Engine::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void Engine::execute(SubmissionQueue& queue, const SubmissionQueue::Submission& submission, const State& state) {
  const Work& work = submission.work;
  if (queue.life_ != state.life) {
    queue.life_ = state.life;
    queue.failure_.reset();
  }
  if (state.lost && !queue.failure_) queue.failure_ = owner_ + " was lost";

  if (const auto* copy = std::get_if<CopyWork>(&work)) {
    if (!queue.failure_)
      transfer(queue, *copy, std::max({submission.earliest, queue.waited_until_, state.going_since}), state.bandwidth);
  } else if (const auto* fire = std::get_if<FireWork>(&work)) {
    if (queue.failure_) {
      fire->fence->fail(*queue.failure_);
    } else if (fire->doomed) {
      fire->fence->fail(owner_ + ": an event failed, as was asked for");
    } else {
      fire->fence->fire();
    }
  } else {
    queue.waited_until_ = Clock::now();
    if (!queue.failure_) queue.failure_ = std::get<WaitWork>(work).fence->failure();
  }
}

// Waits before the bytes move, so that a test detects an early write to the source or an early read of the target. The
// link has its own clock, so that a thread that wakes late does not slow later transfers.
void Engine::transfer(SubmissionQueue& queue, const CopyWork& copy, Clock::time_point ready, int64_t bandwidth) {
  if (bandwidth > 0) {
    double bytes = 0;
    for (const Transfer& piece : copy.transfers) bytes += static_cast<double>(piece.size);
    const std::chrono::duration<double> time(std::min(bytes / static_cast<double>(bandwidth), kLongestTransferSeconds));
    link_free_ = std::max(link_free_, ready) + std::chrono::duration_cast<Clock::duration>(time);
    std::unique_lock lock(mutex_);
    if (changed_.wait_until(lock, link_free_, [this] { return state_.lost; })) {
      link_free_ = Clock::now();
      queue.failure_ = owner_ + " was lost";
      return;
    }
  }
  for (const Transfer& piece : copy.transfers) std::memcpy(piece.to, piece.from, static_cast<size_t>(piece.size));
}

}  // namespace arrowdevice::sim
