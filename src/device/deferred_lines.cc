// SPDX-License-Identifier: Apache-2.0
#include "device/deferred_lines.h"

#include <utility>

namespace arrowdevice::device {

void DeferredLines::push(std::unique_ptr<Deferred> work) noexcept {
  size_.fetch_add(1, std::memory_order_relaxed);
  Deferred* const first = find(work->after->order());
  Deferred* const added = work.get();
  if (first != nullptr) {
    first->last_->next_ = std::move(work);
    first->last_ = added;
  } else {
    added->last_ = work.release();
    link(added, back_);
  }
}

Deferred* DeferredLines::ask() noexcept {
  for (Deferred* first = front_; first != nullptr; first = first->line_behind_) {
    if (!std::exchange(first->is_asked_, true)) return first;
  }
  return nullptr;
}

void DeferredLines::keep(Deferred* first) noexcept {
  first->is_asked_ = false;
  unlink(first);
  link(first, back_);
}

std::unique_ptr<Deferred> DeferredLines::take(Deferred* first, bool yields) noexcept {
  size_.fetch_sub(1, std::memory_order_relaxed);
  Deferred* const next = first->next_.release();
  Deferred* const before = first->line_before_;
  unlink(first);
  if (next != nullptr) {
    next->last_ = first->last_;
    link(next, yields ? back_ : before);
  }
  return std::unique_ptr<Deferred>(first);
}

// There are about as many lines as queues with work.
Deferred* DeferredLines::find(const EventOrder& order) const noexcept {
  if (!order) return nullptr;
  for (Deferred* first = front_; first != nullptr; first = first->line_behind_) {
    if (first->after->order() == order) return first;
  }
  return nullptr;
}

// Inserts a line behind another, or at the front if `before` is NULL.
void DeferredLines::link(Deferred* first, Deferred* before) noexcept {
  Deferred* const behind = before == nullptr ? front_ : before->line_behind_;
  first->line_before_ = before;
  first->line_behind_ = behind;
  (before == nullptr ? front_ : before->line_behind_) = first;
  (behind == nullptr ? back_ : behind->line_before_) = first;
  ++lines_;
}

void DeferredLines::unlink(Deferred* first) noexcept {
  Deferred* const before = std::exchange(first->line_before_, nullptr);
  Deferred* const behind = std::exchange(first->line_behind_, nullptr);
  (before == nullptr ? front_ : before->line_behind_) = behind;
  (behind == nullptr ? back_ : behind->line_before_) = before;
  --lines_;
}

}  // namespace arrowdevice::device
