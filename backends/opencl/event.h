// SPDX-License-Identifier: Apache-2.0
// An event of the backend: a point in a queue's work, or a foreign event.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "opencl/handles.h"

namespace arrowdevice::opencl {

// All functions are thread-safe. Drivers differ in how a failure reaches later events. An event therefore also holds
// the work before it, and it fails if that work fails.
class Event {
 public:
  // `point` comes after `work` in the same queue.
  Event(Owned<cl_event> point, std::vector<Owned<cl_event>> work) : point_(std::move(point)), work_(std::move(work)) {}

  // Creates an event of a queue whose earlier work has failed. It never fires. It reports EIO when `work`, the
  // remaining work, has finished.
  Event(Error failure, std::vector<Owned<cl_event>> work) : work_(std::move(work)), failure_(std::move(failure)) {}

  Event(Event&&) = default;
  ~Event();

  // Imports a foreign event, which may be a pending user event.
  static Event import(cl_event foreign);

  // Returns true if the event has fired. Throws EIO if work failed and all of it has ended.
  bool is_ready() const;

  // Returns true if work failed and all of it has ended. Returns false if the driver cannot tell.
  bool has_failed() const noexcept;

  // Throws ETIMEDOUT if the limit of `timeout_ns` passes first, and EIO if work failed and all of it has ended.
  void wait(int64_t timeout_ns) const;

  // Returns the event that a queue can wait for. Throws EIO if the work has already failed.
  cl_event point() const;

  // Returns the event for the format, which is valid as long as this object. Throws EIO if the work has already failed.
  cl_event* publish();

 private:
  void check_not_failed() const;
  bool has_work_ended() const;
  void wait_for_ever() const;

  Owned<cl_event> point_;
  std::vector<Owned<cl_event>> work_;
  std::optional<Error> failure_;
};

// Returns the handles, for wait lists.
std::vector<cl_event> handles_of(std::span<const Owned<cl_event>> events);

}  // namespace arrowdevice::opencl
