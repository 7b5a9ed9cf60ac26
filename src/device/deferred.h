// SPDX-License-Identifier: Apache-2.0
// Deferred work: releases that run after an event has fired, on a thread of the library or in the program's calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "base/condition_variable.h"
#include "base/deadline.h"
#include "device/deferred_lists.h"

namespace arrowdevice::device {

// Marks a thread that completes work and calls the program, which may call the library again.
class CompletingWork {
 public:
  CompletingWork() noexcept { ++depth(); }
  ~CompletingWork() { --depth(); }
  CompletingWork(const CompletingWork&) = delete;
  CompletingWork& operator=(const CompletingWork&) = delete;

  static bool is_here() noexcept { return depth() > 0; }

 private:
  static int& depth() noexcept;
};

class DeferredWork {
 public:
  // Returns the instance, which is never destroyed because releases may come until the process ends.
  static DeferredWork& instance();

  // Destroys `work` now if its event has fired, else later. Then destroys up to two earlier items that have finished,
  // except in manual mode. In a forked child, and after `exit` has begun, abandons work that waits for a device, and
  // calls neither a driver nor a callback.
  void defer(std::unique_ptr<Deferred> work) noexcept;

  // Abandons the work for good. Its memory is never reused.
  static void abandon(std::unique_ptr<Deferred> work) noexcept;

  // Abandons an object for good, because its destructor would call a driver or the program.
  template <typename Object>
  static void abandon_object(Object object) noexcept {
    struct Abandoned final : Deferred {
      explicit Abandoned(Object its_object) : object(std::move(its_object)) {}
      const Object object;
    };
    abandon(std::unique_ptr<Deferred>(new (std::nothrow) Abandoned(std::move(object))));
  }

  // Throws EBUSY if the mode changes after work has been deferred.
  void set_manual(bool manual);

  // Fixes the mode, as deferred work does. Returns true if it is manual.
  bool fix_mode() noexcept;

  // Destroys the work that has finished, without waiting: at most `max` items, or all if `max` is negative. Returns the
  // number of items destroyed.
  int64_t run(int64_t max) noexcept { return run(max, INT64_MAX); }

  // Destroys the work that has finished, except in manual mode and in a callback of deferred work. A call that lacks
  // memory uses this before it fails. Returns true if it has destroyed any work.
  bool reclaim() noexcept;

  // Count work of another thread as deferred. Each begin_outside() is followed by one end_outside().
  void begin_outside() noexcept;
  void end_outside() noexcept;

  // Waits until no work is deferred. Returns false if the deadline passes first. Throws EBUSY if a deferred release
  // calls it.
  bool wait_idle(const Deadline& deadline);

 private:
  class Awaiting;

  void add(std::unique_ptr<Deferred> work) noexcept;
  bool may_run_here() const noexcept;
  void destroy_few() noexcept;
  int64_t run(int64_t max, int64_t most_asked) noexcept;
  bool start_thread() noexcept;
  void run_thread() noexcept;
  void rest(std::unique_lock<std::mutex>& lock) noexcept;
  void forget_parent() noexcept;
  void wait_for_first() noexcept;
  bool wait_until_idle(const Deadline& deadline);

  std::mutex mutex_;  // guards all members below
  ConditionVariable changed_;
  ConditionVariable wake_;  // for the thread
  DeferredLists lists_;
  int64_t destroying_ = 0;           // number of items that are being destroyed, and of work outside
  int64_t awaited_ = 0;              // number of waiting threads, and of items that are awaited
  std::atomic<bool> manual_{false};  // may_run_here() reads it without the mutex
  bool used_ = false;
  bool has_thread_ = false;
  bool is_thread_idle_ = false;
};

// Counts as deferred work as long as it lives.
class OutsideWork {
 public:
  OutsideWork() { DeferredWork::instance().begin_outside(); }
  ~OutsideWork() { DeferredWork::instance().end_outside(); }
  OutsideWork(const OutsideWork&) = delete;
  OutsideWork& operator=(const OutsideWork&) = delete;
};

}  // namespace arrowdevice::device
