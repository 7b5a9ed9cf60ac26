// SPDX-License-Identifier: Apache-2.0
#include "device/deferred_lists.h"

#include <utility>

namespace arrowdevice::device {

void DeferredLists::push(std::unique_ptr<Deferred> work) noexcept {
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

Deferred* DeferredLists::ask() noexcept {
  for (Deferred* first = front_; first != nullptr; first = first->list_behind_) {
    if (!std::exchange(first->is_asked_, true)) return first;
  }
  return nullptr;
}

void DeferredLists::keep(Deferred* first) noexcept {
  first->is_asked_ = false;
  unlink(first);
  link(first, back_);
}

std::unique_ptr<Deferred> DeferredLists::take(Deferred* first, bool yields) noexcept {
  size_.fetch_sub(1, std::memory_order_relaxed);
  Deferred* const next = first->next_.release();
  Deferred* const before = first->list_before_;
  unlink(first);
  if (next != nullptr) {
    next->last_ = first->last_;
    link(next, yields ? back_ : before);
  }
  return std::unique_ptr<Deferred>(first);
}

// There are about as many lists as queues with work.
Deferred* DeferredLists::find(const EventOrder& order) const noexcept {
  if (!order) return nullptr;
  for (Deferred* first = front_; first != nullptr; first = first->list_behind_) {
    if (first->after->order() == order) return first;
  }
  return nullptr;
}

// Inserts a list behind another, or at the front if `before` is NULL.
void DeferredLists::link(Deferred* first, Deferred* before) noexcept {
  Deferred* const behind = before == nullptr ? front_ : before->list_behind_;
  first->list_before_ = before;
  first->list_behind_ = behind;
  (before == nullptr ? front_ : before->list_behind_) = first;
  (behind == nullptr ? back_ : behind->list_before_) = first;
  ++lists_;
}

void DeferredLists::unlink(Deferred* first) noexcept {
  Deferred* const before = std::exchange(first->list_before_, nullptr);
  Deferred* const behind = std::exchange(first->list_behind_, nullptr);
  (before == nullptr ? front_ : before->list_behind_) = behind;
  (behind == nullptr ? back_ : behind->list_before_) = before;
  --lists_;
}

}  // namespace arrowdevice::device
