// SPDX-License-Identifier: Apache-2.0
#include "level_zero/completion_point.h"

#include <cerrno>

#include "base/deadline.h"
#include "base/log.h"
#include "level_zero/api.h"

namespace arrowdevice::level_zero {

std::shared_ptr<CompletionPoint> CompletionPoint::make(Device& device) {
  return {new CompletionPoint(device), destroy_or_defer};
}

// Skips all driver calls if the device is lost, because they would fail.
CompletionPoint::~CompletionPoint() {
  auto& physical = device_.physical();
  if (physical.is_lost()) return;
  if (list_ != nullptr) physical.give_back("zeCommandListDestroy", api().zeCommandListDestroy(list_));
  if (memory_ != nullptr) device_.free(memory_);
  const bool may_be_signalled = state_.load(std::memory_order_acquire) != State::kNew;
  device_.context().events().put_back(event_, may_be_signalled, physical);
}

void CompletionPoint::destroy_or_defer(CompletionPoint* point) noexcept {
  if (point->has_ended()) {
    delete point;
  } else {
    point->device_.context().unfinished().add(point);
  }
}

bool CompletionPoint::has_ended() const noexcept {
  if (state_.load(std::memory_order_acquire) == State::kNew || device_.physical().is_lost()) return true;
  try {
    return is_passed();
  } catch (const std::exception&) {
    return device_.physical().is_lost();  // otherwise only the query failed, not the work
  }
}

void CompletionPoint::wait_until_ended() const noexcept {
  // Limits the attempts, because a driver may refuse every query.
  constexpr int kAttempts = 2;
  for (int attempt = 0; attempt < kAttempts && !has_ended(); ++attempt) {
    try {
      wait(ARROWDEVICE_NO_TIMEOUT);
    } catch (const std::exception& e) {
      log(LogLevel::kWarning, e.what());
    }
  }
}

bool CompletionPoint::is_passed() const {
  if (state_.load(std::memory_order_acquire) == State::kPassed) return true;
  return device_.physical().use([this] {
    const ze_result_t result = api().zeEventQueryStatus(event_);
    if (result == ZE_RESULT_NOT_READY) return false;
    check("zeEventQueryStatus", result);
    state_.store(State::kPassed, std::memory_order_release);
    return true;
  });
}

// Repeats the driver's wait, because it may return a little early.
void CompletionPoint::wait(int64_t timeout_ns) const {
  if (state_.load(std::memory_order_acquire) == State::kPassed) return;
  const Deadline deadline(timeout_ns);
  device_.physical().use([&] {
    for (;;) {
      const int64_t left = deadline.left();
      const ze_result_t result = api().zeEventHostSynchronize(
          event_, left == 0 ? UINT64_MAX : static_cast<uint64_t>(std::max<int64_t>(left, 0)));
      if (result == ZE_RESULT_NOT_READY && left < 0) {
        throw Error(ETIMEDOUT, format("an event was still pending after %lld ns", static_cast<long long>(timeout_ns)));
      }
      if (result == ZE_RESULT_NOT_READY) continue;
      check("zeEventHostSynchronize", result);
      state_.store(State::kPassed, std::memory_order_release);
      return;
    }
  });
}

}  // namespace arrowdevice::level_zero
