// SPDX-License-Identifier: Apache-2.0
#include "device/deferred.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <new>

#include "base/background.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/process.h"
#include "base/trace.h"

namespace arrowdevice::device {
namespace {

// The longest time that the thread waits for the oldest event before it checks the others again.
constexpr int64_t kLongestWaitNs = 1'000'000;

}  // namespace

int& CompletingWork::depth() noexcept {
  thread_local int depth = 0;
  return depth;
}

Deferred::Deferred() { DeferredWork::instance(); }

// Keeps the abandoned work reachable, so that leak checkers do not report it.
void DeferredWork::abandon(std::unique_ptr<Deferred> work) noexcept {
  static std::atomic<Deferred*> abandoned{nullptr};
  if (work == nullptr) return;
  Deferred* const top = work.release();
  Deferred* below = abandoned.load();
  do {
    [[maybe_unused]] const auto* former = top->next_.release();
    top->next_.reset(below);
  } while (!abandoned.compare_exchange_weak(below, top));
}

void DeferredWork::List::push(std::unique_ptr<Deferred> work) noexcept {
  Deferred* const last = work.get();
  if (tail == nullptr) {
    head = std::move(work);
  } else {
    tail->next_ = std::move(work);
  }
  tail = last;
  ++size;
}

std::unique_ptr<Deferred> DeferredWork::List::pop() noexcept {
  auto work = std::move(head);
  head = std::move(work->next_);
  if (head == nullptr) tail = nullptr;
  --size;
  return work;
}

DeferredWork& DeferredWork::instance() {
  static std::atomic<DeferredWork*> published{nullptr};
  static auto* const created = [] {
    auto made = std::make_unique<DeferredWork>();
    process::keep_usable_across_fork(made->mutex_);
    process::run_in_children([] {
      if (auto* const work = published.load()) work->forget_parent();
    });
    published = made.get();
    return made.release();
  }();
  return *created;
}

// A forked child has none of the threads that wait here or work outside. A condition variable with waiters that do not
// exist would stop the child.
void DeferredWork::forget_parent() noexcept {
  new (&changed_) ConditionVariable();
  ending_ = 0;
  has_thread_ = false;
}

void DeferredWork::defer(std::unique_ptr<Deferred> work) noexcept {
  if (work == nullptr) return;
  if (work->after == nullptr || work->after->has_ended()) return;  // destroys the work here
  if (!work->after->device().is_usable()) {
    // The library does not reuse memory that the device still writes to. The process is about to end, or a forked child
    // never shared that memory.
    abandon(std::move(work));
    return;
  }
  bool lacks_thread;
  {
    const std::lock_guard lock(mutex_);
    list_.push(std::move(work));
    used_ = true;
    lacks_thread = !manual_ && !has_thread_ && !start_thread();
    changed_.notify_all();
  }
  // Calls the program's handler without the lock.
  if (lacks_thread)
    log(LogLevel::kError, "no thread can be started for deferred releases: call arrowdevice_deferred_run()");
}

// Needs mutex_. If no thread can start, the program's calls of arrowdevice_deferred_run() destroy the work.
bool DeferredWork::start_thread() noexcept {
  try {
    background::start([this] { run_thread(); });
    has_thread_ = true;
  } catch (...) {
    return false;
  }
  return true;
}

void DeferredWork::run_thread() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return list_.size > 0; });
    lock.unlock();
    {
      const background::DriverCallGuard busy;
      if (!busy.is_allowed()) return;
      if (run(-1) == 0) wait_for_oldest();
    }
    lock.lock();
  }
}

void DeferredWork::wait_for_oldest() noexcept {
  if (!process::drivers_usable()) return;
  std::shared_ptr<Event> oldest;
  {
    const std::lock_guard lock(mutex_);
    if (list_.size > 0) oldest = list_.head->after;
  }
  if (oldest != nullptr) oldest->wait_for_end(kLongestWaitNs);
}

// Works on any number of threads at once. An item is off the list while a thread checks it.
int64_t DeferredWork::run(int64_t max) noexcept {
  if (!process::drivers_usable()) return 0;
  int64_t left;
  {
    const std::lock_guard lock(mutex_);
    left = list_.size;
  }
  int64_t done = 0;
  for (; left > 0 && done != max && process::drivers_usable(); --left) {
    std::unique_ptr<Deferred> work;
    {
      const std::lock_guard lock(mutex_);
      if (list_.size == 0) break;
      work = list_.pop();
      ++ending_;
    }
    const bool ended = work->after->has_ended();
    if (ended) {
      const CompletingWork here;
      work.reset();
      ++done;
    }
    const std::lock_guard lock(mutex_);
    if (!ended) list_.push(std::move(work));
    --ending_;
    changed_.notify_all();
  }
  return done;
}

void DeferredWork::set_manual(bool manual) {
  const std::lock_guard lock(mutex_);
  if (used_ && manual != manual_) throw Error(EBUSY, "work was deferred already");
  manual_ = manual;
}

bool DeferredWork::fix_mode() noexcept {
  const std::lock_guard lock(mutex_);
  used_ = true;
  return manual_;
}

void DeferredWork::begin_outside() noexcept {
  const std::lock_guard lock(mutex_);
  ++ending_;
}

void DeferredWork::end_outside() noexcept {
  const std::lock_guard lock(mutex_);
  --ending_;
  changed_.notify_all();
}

bool DeferredWork::wait_idle(const Deadline& deadline) {
  trace::Span span("wait", "wait_idle", trace::kLeastWaitNs);
  const bool is_idle = wait_until_idle(deadline);
  span.end([&] { return trace::Facts().add_flag("idle", is_idle); });
  return is_idle;
}

bool DeferredWork::wait_until_idle(const Deadline& deadline) {
  if (CompletingWork::is_here()) throw Error(EBUSY, "a callback of deferred work cannot wait for the other work");
  interrupt::RegularCheck check;
  while (process::drivers_usable()) {
    bool runs_here;
    {
      std::unique_lock lock(mutex_);
      if (list_.size == 0 && ending_ == 0) return true;
      const int64_t left = deadline.left();
      if (left < 0) return false;
      runs_here = !has_thread_ && list_.size > 0;
      if (!runs_here) {
        const auto slice = std::chrono::nanoseconds(left == 0 ? kLongestWaitNs : std::min(left, kLongestWaitNs));
        changed_.wait_for(lock, slice);
      }
    }
    if (runs_here && run(-1) == 0) wait_for_oldest();
    check.run_if_due();
  }
  return true;  // this process never destroys the remaining work
}

}  // namespace arrowdevice::device
