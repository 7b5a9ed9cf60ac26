// SPDX-License-Identifier: Apache-2.0
#include "sim/failures.h"

#include <cerrno>
#include <string>
#include <utility>

#include "base/error.h"

namespace arrowdevice::sim {
namespace {

int usual_code(Function function) {
  switch (function) {
    case Function::buffer_allocate: return ENOMEM;
    case Function::device_count:
    case Function::device_open: return ENODEV;
    default: return EIO;
  }
}

}  // namespace

void Failures::reset(std::vector<PlannedFailure> planned) {
  const std::lock_guard lock(mutex_);
  calls_.fill(0);
  planned_ = std::move(planned);
  injected_ = 0;
}

void Failures::add(PlannedFailure failure) {
  const std::lock_guard lock(mutex_);
  failure.call += calls_[static_cast<size_t>(failure.function)];
  planned_.push_back(failure);
}

void Failures::forget_planned() {
  const std::lock_guard lock(mutex_);
  planned_.clear();
}

std::optional<int> Failures::due(Function function) {
  const std::lock_guard lock(mutex_);
  const int64_t call = ++calls_[static_cast<size_t>(function)];
  for (const PlannedFailure& failure : planned_) {
    if (failure.function != function) continue;
    if (failure.call == call || (failure.onwards && failure.call < call)) {
      ++injected_;
      return failure.code != 0 ? failure.code : usual_code(function);
    }
  }
  return std::nullopt;
}

void Failures::check(Function function) {
  if (const auto code = due(function)) {
    // The native code is the negated errno value, as in a kernel driver.
    throw Error(*code, std::string(name_of(function)) + ": a failure that was asked for", "sim", -*code);
  }
}

int64_t Failures::calls(Function function) const {
  const std::lock_guard lock(mutex_);
  return calls_[static_cast<size_t>(function)];
}

int64_t Failures::injected() const {
  const std::lock_guard lock(mutex_);
  return injected_;
}

}  // namespace arrowdevice::sim
