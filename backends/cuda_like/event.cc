// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/event.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/deadline.h"

namespace arrowdevice::cuda_like {
namespace {

// Intervals between polls. They grow from the first to the longest.
constexpr std::chrono::microseconds kFirstPause{2};
constexpr std::chrono::microseconds kLongestPause{200};

NativeEvent checked(const NativeEvent* published) {
  if (published == nullptr || *published == nullptr) {
    throw Error(EINVAL, "sync_event must be the address of an event's handle, which is NULL");
  }
  return *published;
}

}  // namespace

Event::Event(Gpu& gpu)
    : gpu_(gpu), native_(gpu.use([](Driver& driver) { return driver.create_event(); })), is_borrowed_(false) {}

Event::Event(Gpu& gpu, const NativeEvent* published) : gpu_(gpu), native_(checked(published)), is_borrowed_(true) {}

Event::~Event() {
  if (is_borrowed_) return;
  gpu_.give_back([this](Driver& driver) { driver.destroy_event(native_); });
}

bool Event::is_done() const {
  return gpu_.use([this](Driver& driver) { return driver.is_done(native_); });
}

// Polls if there is a time limit, because no driver has a wait with a time limit.
void Event::wait(int64_t timeout_ns) const {
  gpu_.use([&](Driver& driver) {
    if (timeout_ns == ARROWDEVICE_NO_TIMEOUT) return driver.wait(native_);
    const Deadline deadline(timeout_ns);
    for (auto pause = kFirstPause; !driver.is_done(native_); pause = std::min(2 * pause, kLongestPause)) {
      const std::chrono::nanoseconds left(deadline.left());
      if (left.count() < 0) {
        throw Error(ETIMEDOUT, format("an event was still pending after %lld ns", static_cast<long long>(timeout_ns)));
      }
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, left));
    }
  });
}

}  // namespace arrowdevice::cuda_like
