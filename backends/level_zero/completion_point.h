// SPDX-License-Identifier: Apache-2.0
// A point in the work of a command list: a driver event that the list signals there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "level_zero/device.h"

namespace arrowdevice::level_zero {

// If the last reference is released before the device has passed the point, PendingCompletions keeps the point. All
// functions are thread-safe.
class CompletionPoint {
 public:
  // Creates a point that is not appended to a list yet.
  static std::shared_ptr<CompletionPoint> make(Device& device);

  CompletionPoint(const CompletionPoint&) = delete;
  CompletionPoint& operator=(const CompletionPoint&) = delete;

  Device& device() const noexcept { return device_; }
  ze_event_handle_t native() const noexcept { return event_; }

  // Records that a list signals the point.
  void set_appended() noexcept { state_.store(State::kAppended, std::memory_order_release); }

  bool is_passed() const;
  // Throws ETIMEDOUT if the limit of `timeout_ns` passes first.
  void wait(int64_t timeout_ns) const;

  // These functions keep objects until the point has been passed: the point that its list waits for, the list itself,
  // and memory that the list uses.
  void keep(std::shared_ptr<CompletionPoint> awaited) noexcept { awaited_ = std::move(awaited); }
  void destroy_afterwards(ze_command_list_handle_t list) noexcept { list_ = list; }
  void free_afterwards(void* memory) noexcept { memory_ = memory; }

 private:
  friend class PendingCompletions;
  enum class State { kNew, kAppended, kPassed };

  explicit CompletionPoint(Device& device)
      : device_(device), event_(device.context().events().take(device.physical())) {}
  ~CompletionPoint();

  static void destroy_or_defer(CompletionPoint* point) noexcept;
  bool has_ended() const noexcept;
  void wait_until_ended() const noexcept;

  Device& device_;
  const ze_event_handle_t event_;
  mutable std::atomic<State> state_{State::kNew};
  std::shared_ptr<CompletionPoint> awaited_;
  ze_command_list_handle_t list_ = nullptr;
  void* memory_ = nullptr;
  CompletionPoint* next_ = nullptr;  // next in the list of PendingCompletions
};

}  // namespace arrowdevice::level_zero
