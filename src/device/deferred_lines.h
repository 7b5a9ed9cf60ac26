// SPDX-License-Identifier: Apache-2.0
// Deferred work in lines, one for each queue. The events of a queue fire in their order, so that only the first item of
// a line must be asked about.
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

  // True if the program waits for the work, which then should not be late.
  bool is_awaited = false;

 private:
  friend class DeferredLines;
  friend class DeferredWork;

  std::unique_ptr<Deferred> next_;  // in the line
  // The members below belong to the first item of a line. The lines are a list.
  Deferred* last_ = nullptr;
  Deferred* line_before_ = nullptr;
  Deferred* line_behind_ = nullptr;
  bool is_asked_ = false;  // a thread asks if it has finished
};

// Needs the mutex of its owner, except for size().
class DeferredLines {
 public:
  DeferredLines() = default;
  DeferredLines(const DeferredLines&) = delete;
  DeferredLines& operator=(const DeferredLines&) = delete;

  int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  int64_t lines() const noexcept { return lines_; }
  bool is_empty() const noexcept { return front_ == nullptr; }

  // Returns the first item of the first line. The lines must not be empty.
  const Deferred& front() const noexcept { return *front_; }

  // Adds an item, which has an event, to the line of its queue. An item whose event has no order has its own line.
  void push(std::unique_ptr<Deferred> work) noexcept;

  // Returns the first item of a line, or NULL if other threads ask about all lines. Either keep() or take() follows.
  Deferred* ask() noexcept;

  // Keeps an item that has not finished. Its line is asked after all others.
  void keep(Deferred* first) noexcept;

  // Takes an item out that has finished. Its line is asked next, or after all others if `yields` is true.
  std::unique_ptr<Deferred> take(Deferred* first, bool yields) noexcept;

 private:
  Deferred* find(const EventOrder& order) const noexcept;
  void link(Deferred* first, Deferred* before) noexcept;
  void unlink(Deferred* first) noexcept;

  Deferred* front_ = nullptr;
  Deferred* back_ = nullptr;
  int64_t lines_ = 0;
  std::atomic<int64_t> size_{0};
};

}  // namespace arrowdevice::device
