// SPDX-License-Identifier: Apache-2.0
#include "opencl/pending.h"

#include "opencl/query.h"
#include "opencl/watch.h"

namespace arrowdevice::opencl {

void Pending::settle() {
  while (!unfinished_.empty()) {
    const cl_int status = status_of(unfinished_.front().get());
    if (status > CL_COMPLETE) return;
    if (status < CL_COMPLETE) {
      fail(failed_work(status));
      release_failed(std::move(unfinished_.front()));
    } else {
      last_finished_ = std::move(unfinished_.front());
    }
    unfinished_.pop_front();
  }
}

std::vector<Owned<cl_event>> Pending::share() const {
  std::vector<Owned<cl_event>> shared;
  shared.reserve(unfinished_.size());
  for (const auto& event : unfinished_) shared.push_back(Owned<cl_event>::share(event.get()));
  return shared;
}

void Pending::replace_by(Owned<cl_event> event) {
  unfinished_.clear();
  unfinished_.push_back(std::move(event));
}

}  // namespace arrowdevice::opencl
