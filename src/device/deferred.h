// SPDX-License-Identifier: Apache-2.0
// Deferred work: releases that run after an event has fired, on a thread of the library or in the program's calls.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/condition_variable.h"
#include "base/deadline.h"
#include "device/event.h"

namespace arrowdevice::device {

// Work that runs in the destructor. It is allocated up front, which also creates the DeferredWork instance, so that
// defer() cannot fail.
class Deferred {
 public:
  Deferred();
  virtual ~Deferred() = default;

  // The event that must have fired before the work is destroyed, or NULL if there is none.
  std::shared_ptr<Event> after;

 private:
  friend class DeferredWork;
  std::unique_ptr<Deferred> next_;
};

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

  // Destroys `work` now if its event has fired, else later. In a forked child, and after `exit` has begun, abandons
  // work that waits for a device, and calls neither a driver nor a callback.
  void defer(std::unique_ptr<Deferred> work) noexcept;

  // Abandons the work for good. Its memory is never reused.
  static void abandon(std::unique_ptr<Deferred> work) noexcept;

  // Throws EBUSY if the mode changes after work has been deferred.
  void set_manual(bool manual);

  // Fixes the mode, as deferred work does. Returns true if it is manual.
  bool fix_mode() noexcept;

  // Destroys the work that has finished, without waiting: at most `max` items, or all if `max` is negative. Returns the
  // number of items destroyed.
  int64_t run(int64_t max) noexcept;

  // Count work of another thread as deferred. Each begin_outside() is followed by one end_outside().
  void begin_outside() noexcept;
  void end_outside() noexcept;

  // Waits until no work is deferred. Returns false if the deadline passes first. Throws EBUSY if a deferred release
  // calls it.
  bool wait_idle(const Deadline& deadline);

 private:
  struct List {
    std::unique_ptr<Deferred> head;
    Deferred* tail = nullptr;
    int64_t size = 0;

    void push(std::unique_ptr<Deferred> work) noexcept;
    std::unique_ptr<Deferred> pop() noexcept;
  };

  bool start_thread() noexcept;
  void run_thread() noexcept;
  void forget_parent() noexcept;
  void wait_for_oldest() noexcept;
  bool wait_until_idle(const Deadline& deadline);

  std::mutex mutex_;  // guards all members below
  ConditionVariable changed_;
  List list_;
  int64_t ending_ = 0;  // number of items that are off the list but not destroyed yet, and of work outside
  bool manual_ = false;
  bool used_ = false;
  bool has_thread_ = false;
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
