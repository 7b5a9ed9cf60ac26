// SPDX-License-Identifier: Apache-2.0
#include "level_zero/sycl_event.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/deadline.h"
#include "base/error.h"

namespace arrowdevice::level_zero {
namespace {

// Intervals between polls. They grow from the first to the longest.
constexpr std::chrono::microseconds kFirstPause{5};
constexpr std::chrono::microseconds kLongestPause{500};

}  // namespace

void SyclEvent::check_has_status() const {
  if (!runtime_.has_status()) {
    throw Error(ENOTSUP, "the SYCL runtime that is loaded can wait for a sycl::event without a time-out only");
  }
}

bool SyclEvent::is_ready() {
  if (is_complete_.load(std::memory_order_acquire)) return true;
  check_has_status();
  if (!runtime_.is_complete(event_)) return false;
  // wait() throws the error of failed work.
  wait(ARROWDEVICE_NO_TIMEOUT);
  return true;
}

// Polls if there is a time limit, because sycl::event::wait() has no time limit.
void SyclEvent::wait(int64_t timeout_ns) {
  if (is_complete_.load(std::memory_order_acquire)) return;  // a queue may wait again after the library has waited
  if (timeout_ns == ARROWDEVICE_NO_TIMEOUT) {
    runtime_.wait(event_);
    is_complete_.store(true, std::memory_order_release);
    return;
  }
  const Deadline deadline(timeout_ns);
  for (auto pause = kFirstPause; !is_ready(); pause = std::min(2 * pause, kLongestPause)) {
    const std::chrono::nanoseconds left(deadline.left());
    if (left.count() < 0) {
      throw Error(ETIMEDOUT,
                  format("a sycl::event was still pending after %lld ns", static_cast<long long>(timeout_ns)));
    }
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, left));
  }
}

}  // namespace arrowdevice::level_zero
