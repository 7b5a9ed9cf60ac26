// SPDX-License-Identifier: Apache-2.0
// An event of the backend: a point in a queue's work, or an event of someone else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "opencl/handles.h"

namespace arrowdevice::opencl {

// May be used from any thread. Drivers differ in how a failure reaches what waits behind it, so an event also knows the
// work that it stands for: it has failed if that has.
class Event {
 public:
  // `point` follows after `work`, of the same queue.
  Event(Owned<cl_event> point, std::vector<Owned<cl_event>> work) : point_(std::move(point)), work_(std::move(work)) {}

  // Of a queue whose earlier work has failed: it never fires, and says EIO once `work`, the rest of it, is over.
  Event(Error failure, std::vector<Owned<cl_event>> work) : work_(std::move(work)), failure_(std::move(failure)) {}

  Event(Event&&) = default;
  ~Event();

  // Someone else's event, pending events of the user among them.
  static Event import(cl_event foreign);

  // Whether it has fired. Throws EIO if the work failed.
  bool is_ready() const;

  // Throws ETIMEDOUT after `timeout_ns`, EIO if the work failed.
  void wait(int64_t timeout_ns) const;

  // What a queue is to wait for. Throws EIO if the work is known to have failed.
  cl_event point() const;

  // The event of the format; alive as long as this. Throws EIO if the work is known to have failed.
  cl_event* publish();

 private:
  void check_not_failed() const;
  void wait_for_ever() const;

  Owned<cl_event> point_;
  std::vector<Owned<cl_event>> work_;
  std::optional<Error> failure_;
};

// The handles, for wait lists.
std::vector<cl_event> handles_of(std::span<const Owned<cl_event>> events);

}  // namespace arrowdevice::opencl
