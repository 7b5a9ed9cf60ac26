// SPDX-License-Identifier: Apache-2.0
// Deferred work in lists, one for each queue. The events of a queue fire in their order, so that only the first item of
// a list is checked. An item whose event has no order has a list of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "device/event.h"

namespace arrowdevice::device {

// Work that runs in the destructor. It is allocated up front, which also creates the DeferredWork instance, so that
// defer() cannot fail.
class Deferred {
 public:
  Deferred();
  virtual ~Deferred() = default;

  // The event that must have fired before the work is destroyed, or NULL if there is none.
  std::shared_ptr<Event> after;

  // True if a caller waits for the work. The thread then checks it without delay.
  bool is_awaited = false;

 private:
  friend class DeferredLists;
  friend class DeferredWork;

  std::unique_ptr<Deferred> next_;  // in the list
  // Only the first item of a list has the members below. They link the lists.
  Deferred* last_ = nullptr;
  Deferred* list_before_ = nullptr;
  Deferred* list_behind_ = nullptr;
  bool is_asked_ = false;  // a thread checks if it has finished
};

// Needs the mutex of its owner, except for size().
class DeferredLists {
 public:
  DeferredLists() = default;
  DeferredLists(const DeferredLists&) = delete;
  DeferredLists& operator=(const DeferredLists&) = delete;

  int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  int64_t count() const noexcept { return lists_; }
  bool is_empty() const noexcept { return front_ == nullptr; }

  // Returns the first item of the first list. The lists must not be empty.
  const Deferred& front() const noexcept { return *front_; }

  // Adds an item, which has an event, to the list of its queue.
  void push(std::unique_ptr<Deferred> work) noexcept;

  // Returns the first item of a list that no thread checks, or NULL. The caller then calls keep() or take().
  Deferred* ask() noexcept;

  // Keeps an item that has not finished. Its list is checked after all others.
  void keep(Deferred* first) noexcept;

  // Takes an item out that has finished. Its list is checked next, or after all others if `yields` is true.
  std::unique_ptr<Deferred> take(Deferred* first, bool yields) noexcept;

 private:
  Deferred* find(const EventOrder& order) const noexcept;
  void link(Deferred* first, Deferred* before) noexcept;
  void unlink(Deferred* first) noexcept;

  Deferred* front_ = nullptr;
  Deferred* back_ = nullptr;
  int64_t lists_ = 0;
  std::atomic<int64_t> size_{0};
};

}  // namespace arrowdevice::device
