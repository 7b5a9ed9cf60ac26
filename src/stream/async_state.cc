// SPDX-License-Identifier: Apache-2.0
#include "stream/async_state.h"

#include <cassert>
#include <cerrno>
#include <limits>

namespace arrowdevice::stream {

void AsyncState::request(int64_t n) noexcept {
  if (is_finished() || is_released_) return;
  if (n <= 0) {
    fail(EINVAL);
    return;
  }
  const int64_t room = std::numeric_limits<int64_t>::max() - requested_;
  requested_ += n < room ? n : room;
}

void AsyncState::cancel() noexcept {
  if (!has_told_last_) is_cancelled_ = true;
}

void AsyncState::fail(int code) noexcept {
  if (!is_finished() && own_error_ == 0) own_error_ = code;
}

AsyncState::Step AsyncState::next() const noexcept {
  if (is_released_) return Step::kNothing;
  if (is_finished()) return Step::kRelease;
  if (own_error_ != 0) return Step::kError;
  if (!has_told_schema_ && has_schema_) return Step::kSchema;
  if (has_told_schema_ && waiting_ > 0) return requested_ > 0 ? Step::kTask : Step::kNothing;
  // The end is a call of on_next_task, which must be requested like all others.
  if (has_ended_ && has_told_schema_) return requested_ > 0 ? Step::kEnd : Step::kNothing;
  if (source_error_ != 0) return Step::kError;
  return Step::kNothing;
}

void AsyncState::taken(Step step, int code) noexcept {
  switch (step) {
    case Step::kNothing: assert(false && "nothing was to be done"); return;
    case Step::kSchema: has_told_schema_ = true; break;
    case Step::kTask:
      --requested_;
      --waiting_;
      ++tasks_;
      break;
    case Step::kEnd:
    case Step::kError: has_told_last_ = true; break;
    case Step::kRelease: is_released_ = true; break;
  }
  if (code != 0) has_told_last_ = true;
}

}  // namespace arrowdevice::stream
