// SPDX-License-Identifier: Apache-2.0
// An event of the backend: a point in a queue's work, or a foreign event.
#pragma once

#include <cstdint>
#include <memory>

#include "level_zero/completion_point.h"

namespace arrowdevice::level_zero {

// All functions are thread-safe.
class Event {
 public:
  Event() = default;
  virtual ~Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Returns true if the event has fired. Throws EIO if the work failed.
  virtual bool is_ready() = 0;
  // Throws ETIMEDOUT if the limit of `timeout_ns` passes first, and EIO if the work failed.
  virtual void wait(int64_t timeout_ns) = 0;
  // Returns the point that a queue can wait for, or NULL if only the CPU can wait.
  virtual std::shared_ptr<CompletionPoint> point() const = 0;
};

class QueueEvent final : public Event {
 public:
  explicit QueueEvent(std::shared_ptr<CompletionPoint> point) noexcept : point_(std::move(point)) {}

  bool is_ready() override { return point_->is_passed(); }
  void wait(int64_t timeout_ns) override { point_->wait(timeout_ns); }
  std::shared_ptr<CompletionPoint> point() const override { return point_; }

 private:
  const std::shared_ptr<CompletionPoint> point_;
};

}  // namespace arrowdevice::level_zero
