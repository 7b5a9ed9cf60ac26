// SPDX-License-Identifier: Apache-2.0
#include "device/deferred.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <new>
#include <utility>

#include "base/background.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/process.h"
#include "base/trace.h"

namespace arrowdevice::device {
namespace {

// The longest time that a thread waits for one event before it asks about the others again. The library's thread
// sleeps so long if the program does not wait for the work.
constexpr int64_t kLongestWaitNs = 1'000'000;

}  // namespace

int& CompletingWork::depth() noexcept {
  thread_local int depth = 0;
  return depth;
}

[[gnu::hot]] Deferred::Deferred() { DeferredWork::instance(); }

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

[[gnu::hot]] DeferredWork& DeferredWork::instance() {
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
  new (&wake_) ConditionVariable();
  destroying_ = 0;
  has_thread_ = false;
  is_thread_idle_ = false;
}

void DeferredWork::defer(std::unique_ptr<Deferred> work) noexcept {
  if (work == nullptr) return;
  if (work->after == nullptr || work->after->has_ended()) {
    work.reset();
  } else if (!work->after->device().is_usable()) {
    // The library does not reuse memory that the device still writes to. The process is about to end, or a forked child
    // never shared that memory.
    abandon(std::move(work));
  } else {
    add(std::move(work));
  }
  destroy_few();
}

void DeferredWork::add(std::unique_ptr<Deferred> work) noexcept {
  bool lacks_thread;
  {
    const std::lock_guard lock(mutex_);
    awaited_ += work->is_awaited;
    const bool wakes = std::exchange(is_thread_idle_, false) || work->is_awaited;
    lists_.push(std::move(work));
    used_ = true;
    lacks_thread = !manual_ && !has_thread_ && !start_thread();
    if (wakes) wake_.notify_one();
  }
  // Calls the program's handler without the lock.
  if (lacks_thread)
    log(LogLevel::kError, "no thread can be started for deferred releases: call arrowdevice_deferred_run()");
}

// Returns true if a call of the program may destroy the work of other calls. In a callback of deferred work the depth
// of such calls would have no limit.
bool DeferredWork::may_run_here() const noexcept { return lists_.size() > 0 && !manual_ && !CompletingWork::is_here(); }

// Destroys work in small portions where work is deferred, so that the library's thread need not be woken for it. The
// driver is asked about few lists, because most of them may wait for a long time.
void DeferredWork::destroy_few() noexcept {
  constexpr int64_t kMostDestroyed = 2;
  constexpr int64_t kMostAsked = 4;
  if (may_run_here()) run(kMostDestroyed, kMostAsked);
}

bool DeferredWork::reclaim() noexcept { return may_run_here() && run(-1) > 0; }

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
    wake_.wait(lock, [&] {
      is_thread_idle_ = lists_.is_empty();
      return !is_thread_idle_;
    });
    rest(lock);
    lock.unlock();
    {
      const background::DriverCallGuard busy;
      if (!busy.is_allowed()) return;
      run(-1);
    }
    lock.lock();
  }
}

// Sleeps for a moment, or waits for an event if the program waits for the work.
void DeferredWork::rest(std::unique_lock<std::mutex>& lock) noexcept {
  const bool is_awaited = wake_.wait_for(lock, std::chrono::nanoseconds(kLongestWaitNs), [&] { return awaited_ > 0; });
  if (!is_awaited) return;
  lock.unlock();
  {
    const background::DriverCallGuard busy;
    if (busy.is_allowed()) wait_for_first();
  }
  lock.lock();
}

// Waits for the first item of the first list.
void DeferredWork::wait_for_first() noexcept {
  if (!process::drivers_usable()) return;
  std::shared_ptr<Event> event;
  {
    const std::lock_guard lock(mutex_);
    if (!lists_.is_empty()) event = lists_.front().after;
  }
  if (event != nullptr) event->wait_for_end(kLongestWaitNs);
}

// Works on any number of threads at once. Asks about each list until it finds an item that has not finished. Ends
// after `most_asked` such items.
int64_t DeferredWork::run(int64_t max, int64_t most_asked) noexcept {
  if (!process::drivers_usable()) return 0;
  int64_t done = 0;
  std::unique_lock lock(mutex_);
  int64_t lists_left = std::min(lists_.count(), most_asked);
  int64_t items_left = lists_.size();
  while (lists_left > 0 && items_left > 0 && done != max && process::drivers_usable()) {
    Deferred* const first = lists_.ask();
    if (first == nullptr) break;
    lock.unlock();
    const bool has_ended = first->after->has_ended();
    lock.lock();
    if (!has_ended) {
      lists_.keep(first);
      --lists_left;
      continue;
    }
    auto work = lists_.take(first, done + 1 == max);
    awaited_ -= work->is_awaited;
    ++destroying_;
    --items_left;
    ++done;
    lock.unlock();
    {
      const CompletingWork here;
      work.reset();
    }
    lock.lock();
    --destroying_;
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
  ++destroying_;
}

void DeferredWork::end_outside() noexcept {
  const std::lock_guard lock(mutex_);
  --destroying_;
  changed_.notify_all();
}

bool DeferredWork::wait_idle(const Deadline& deadline) {
  trace::Span span("wait", "wait_idle", trace::kLeastWaitNs);
  const bool is_idle = wait_until_idle(deadline);
  span.end([&] { return trace::Facts().add_flag("idle", is_idle); });
  return is_idle;
}

// Makes the library's thread wait for events instead of sleeping.
class DeferredWork::Awaiting {
 public:
  explicit Awaiting(DeferredWork& work) noexcept : work_(work) {
    const std::lock_guard lock(work_.mutex_);
    ++work_.awaited_;
    if (!work_.lists_.is_empty()) work_.wake_.notify_one();
  }
  ~Awaiting() {
    const std::lock_guard lock(work_.mutex_);
    --work_.awaited_;
  }
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;

 private:
  DeferredWork& work_;
};

bool DeferredWork::wait_until_idle(const Deadline& deadline) {
  if (CompletingWork::is_here()) throw Error(EBUSY, "a callback of deferred work cannot wait for the other work");
  const Awaiting awaiting(*this);
  interrupt::RegularCheck check;
  while (process::drivers_usable()) {
    bool runs_here;
    {
      std::unique_lock lock(mutex_);
      if (lists_.is_empty() && destroying_ == 0) return true;
      const int64_t left = deadline.left();
      if (left < 0) return false;
      runs_here = !has_thread_ && !lists_.is_empty();
      if (!runs_here) {
        const auto slice = std::chrono::nanoseconds(left == 0 ? kLongestWaitNs : std::min(left, kLongestWaitNs));
        changed_.wait_for(lock, slice);
      }
    }
    if (runs_here && run(-1) == 0) wait_for_first();
    check.run_if_due();
  }
  return true;  // this process never destroys the remaining work
}

}  // namespace arrowdevice::device
