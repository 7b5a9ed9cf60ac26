// SPDX-License-Identifier: Apache-2.0
#include "base/closed_in_children.h"

#include <unistd.h>

#include "base/process.h"

namespace arrowdevice {

std::mutex& ClosedInChildren::mutex() {
  static auto* const created = [] {
    auto* const made = new std::mutex;
    process::keep_usable_across_fork(*made);
    process::run_in_children(close_all);
    return made;
  }();
  return *created;
}

// Needs the mutex.
void ClosedInChildren::add(int number, int* shown) noexcept {
  if (number < 0) return;
  number_ = number;
  shown_ = shown;
  if (shown_ != nullptr) *shown_ = number;
  next_ = first_;
  if (next_ != nullptr) next_->previous_ = this;
  first_ = this;
}

void ClosedInChildren::reset() noexcept {
  if (number_ < 0) return;
  const std::lock_guard lock(mutex());
  if (previous_ != nullptr) previous_->next_ = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  if (first_ == this) first_ = next_;
  previous_ = next_ = nullptr;
  ::close(std::exchange(number_, -1));
}

void ClosedInChildren::close_all() noexcept {
  for (auto* one = std::exchange(first_, nullptr); one != nullptr;) {
    auto* const next = one->next_;
    ::close(std::exchange(one->number_, -1));
    if (one->shown_ != nullptr) *one->shown_ = -1;
    one->previous_ = one->next_ = nullptr;
    one = next;
  }
}

}  // namespace arrowdevice
