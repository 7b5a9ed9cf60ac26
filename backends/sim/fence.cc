// SPDX-License-Identifier: Apache-2.0
#include "sim/fence.h"

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/error.h"

namespace arrowdevice::sim {
namespace {

// A longer wait would overflow the clock. This limit is over 30 years.
constexpr int64_t kForeverNs = int64_t{1} << 60;

}  // namespace

bool Fence::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_;
}

std::optional<std::string> Fence::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool Fence::ready() const {
  const std::lock_guard lock(mutex_);
  throw_if_failed();
  return finished_;
}

void Fence::wait(int64_t timeout_ns) const {
  std::unique_lock lock(mutex_);
  const auto done = [this] { return finished_; };
  if (timeout_ns == ARROWDEVICE_NO_TIMEOUT || timeout_ns > kForeverNs) {
    changed_.wait(lock, done);
  } else if (!changed_.wait_for(lock, std::chrono::nanoseconds(std::max<int64_t>(timeout_ns, 0)), done)) {
    throw Error(ETIMEDOUT, format("an event was still pending after %lld ns", static_cast<long long>(timeout_ns)));
  }
  throw_if_failed();
}

void Fence::when_finished(std::function<void()> wake) {
  {
    const std::lock_guard lock(mutex_);
    if (!finished_) {
      wakers_.push_back(std::move(wake));
      return;
    }
  }
  wake();
}

void Fence::finish(std::optional<std::string> failure) {
  std::vector<std::function<void()>> wakers;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
    failure_ = std::move(failure);
    wakers.swap(wakers_);
    changed_.notify_all();
  }
  for (const auto& wake : wakers) wake();
}

void Fence::throw_if_failed() const {
  if (failure_) throw Error(EIO, *failure_);
}

}  // namespace arrowdevice::sim
