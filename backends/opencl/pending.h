// SPDX-License-Identifier: Apache-2.0
// The work of an in-order queue that is not known to be over, and whether any of it failed.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "opencl/handles.h"

namespace arrowdevice::opencl {

// A queue of OpenCL goes on after a failure as if nothing had happened, and so may what is recorded on it. Here a
// failure is remembered. Calls are serialised by the queue that this belongs to.
class Pending {
 public:
  void add(Owned<cl_event> event) { unfinished_.push_back(std::move(event)); }

  // Forgets what is over. Asks only as far as the first that is not: they end in order.
  void settle();

  // From here on, the queue counts as failed.
  void fail(Error failure) {
    if (!failure_) failure_ = std::move(failure);
  }

  const std::optional<Error>& failure() const noexcept { return failure_; }
  bool is_empty() const noexcept { return unfinished_.empty(); }
  size_t size() const noexcept { return unfinished_.size(); }

  // References to all that is unfinished.
  std::vector<Owned<cl_event>> share() const;

  // One event stands for all that is unfinished from here on.
  void replace_by(Owned<cl_event> event);

 private:
  std::deque<Owned<cl_event>> unfinished_;
  std::optional<Error> failure_;
};

}  // namespace arrowdevice::opencl
