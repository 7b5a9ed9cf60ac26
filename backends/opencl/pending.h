// SPDX-License-Identifier: Apache-2.0
// The work of an in-order queue that may be unfinished, and the first failure.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "opencl/handles.h"

namespace arrowdevice::opencl {

// An OpenCL queue continues after a failure, and later events may succeed. This class therefore records the failure.
// The queue that owns this object serializes the calls.
class Pending {
 public:
  void add(Owned<cl_event> event) { unfinished_.push_back(std::move(event)); }

  // Removes finished work. Stops at the first unfinished event, because events finish in order.
  void settle();

  // Marks the queue as failed.
  void fail(Error failure) {
    if (!failure_) failure_ = std::move(failure);
  }

  const std::optional<Error>& failure() const noexcept { return failure_; }
  bool is_empty() const noexcept { return unfinished_.empty(); }
  size_t size() const noexcept { return unfinished_.size(); }

  // Returns the last work that settle() has removed, or an empty handle.
  const Owned<cl_event>& last_finished() const noexcept { return last_finished_; }

  // Returns references to all unfinished work.
  std::vector<Owned<cl_event>> share() const;

  // Replaces all unfinished work by one event that follows it.
  void replace_by(Owned<cl_event> event);

 private:
  std::deque<Owned<cl_event>> unfinished_;
  Owned<cl_event> last_finished_;
  std::optional<Error> failure_;
};

}  // namespace arrowdevice::opencl
