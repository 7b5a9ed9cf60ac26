// SPDX-License-Identifier: Apache-2.0
// Deferred work: things to let go once an event has fired, ended by one thread of the library or by the program.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/deadline.h"
#include "device/event.h"

namespace arrowdevice::device {

// Something whose destructor is the work. Made before it is needed, and the reaper with the first of them, so that
// deferring cannot fail.
class Deferred {
 public:
  Deferred();
  virtual ~Deferred() = default;

  // What must have fired before it is destroyed; NULL: nothing.
  std::shared_ptr<Event> after;

 private:
  friend class DeferredWork;
  std::unique_ptr<Deferred> next_;
};

class DeferredWork {
 public:
  // Never destroyed: releases may come until the process is gone.
  static DeferredWork& instance();

  // Destroys `work` now if its event has fired, else later. In a forked child, and after `exit` has begun, work that
  // waits for a device is let go without calling anyone.
  void defer(std::unique_ptr<Deferred> work) noexcept;

  // Lets work go for ever: its memory is not used again.
  static void abandon(std::unique_ptr<Deferred> work) noexcept;

  // Throws EBUSY once something has been deferred.
  void set_manual(bool manual);

  // Ends what can be ended without waiting, at most `max` pieces (negative: all). Returns how many.
  int64_t reap(int64_t max) noexcept;

  // Waits until nothing is deferred; false when the deadline passes first. Throws EBUSY within a deferred release.
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
  void run() noexcept;
  void wait_for_oldest() noexcept;

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  List list_;
  int64_t ending_ = 0;  // taken off the list, not destroyed yet
  bool manual_ = false;
  bool used_ = false;
  bool has_thread_ = false;
};

}  // namespace arrowdevice::device
