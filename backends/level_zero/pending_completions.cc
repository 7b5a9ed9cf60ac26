// SPDX-License-Identifier: Apache-2.0
#include "level_zero/pending_completions.h"

#include <algorithm>

#include "level_zero/completion_point.h"

namespace arrowdevice::level_zero {
namespace {

// Limits the points that a call checks, so that a call stays short if many points are pending.
constexpr size_t kMostLooks = 32;

}  // namespace

void PendingCompletions::add(CompletionPoint* point) noexcept {
  const std::lock_guard lock(mutex_);
  point->next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = point;
  last_ = point;
  ++size_;
}

CompletionPoint* PendingCompletions::take_first() noexcept {
  const std::lock_guard lock(mutex_);
  CompletionPoint* const taken = first_;
  if (taken == nullptr) return nullptr;
  first_ = taken->next_;
  if (first_ == nullptr) last_ = nullptr;
  --size_;
  return taken;
}

void PendingCompletions::sweep() noexcept {
  size_t looks = 0;
  {
    const std::lock_guard lock(mutex_);
    looks = std::min(size_, kMostLooks);
  }
  for (; looks > 0; --looks) {
    CompletionPoint* const point = take_first();
    if (point == nullptr) return;
    CompletionPoint::destroy_or_defer(point);
  }
}

bool PendingCompletions::drain() noexcept {
  while (CompletionPoint* const point = take_first()) {
    point->wait_until_ended();
    const bool has_ended = point->has_ended();
    CompletionPoint::destroy_or_defer(point);
    if (!has_ended) return false;
  }
  return true;
}

}  // namespace arrowdevice::level_zero
