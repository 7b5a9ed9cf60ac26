// SPDX-License-Identifier: Apache-2.0
// A queue: an immediate command list that the library owns or that it borrows from the application.
#pragma once

#include <arrowdevice/backend.h>

#include <atomic>
#include <memory>
#include <span>

#include "level_zero/completion_point.h"
#include "level_zero/device.h"
#include "level_zero/event.h"

namespace arrowdevice::level_zero {

// The library serializes the calls on a queue.
class Queue {
 public:
  explicit Queue(Device& device);
  // Throws EINVAL for NULL.
  Queue(Device& device, ze_command_list_handle_t borrowed);
  // Returns at once. Work in flight continues.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Returns the list. The application may append to it from then on.
  ze_command_list_handle_t native() noexcept {
    is_shared_.store(true, std::memory_order_relaxed);
    return list_;
  }

  void copy(std::span<const arrowdevice_backend_region> regions);
  std::unique_ptr<Event> record();
  void wait_for(Event& event);

  // Frees the memory when the work enqueued so far has finished.
  void free_behind(void* memory) noexcept;

 private:
  std::shared_ptr<CompletionPoint> append_point(const std::shared_ptr<CompletionPoint>& awaited);
  void append_barrier();
  bool is_shared() const noexcept { return is_shared_.load(std::memory_order_relaxed); }

  Device& device_;
  ze_command_list_handle_t list_ = nullptr;
  const bool is_borrowed_;
  std::atomic<bool> is_shared_;            // the application may append to the list too
  bool is_in_order_ = false;               // if false, barriers order the work
  bool may_overtake_ = false;              // new commands may overtake earlier commands
  bool has_new_work_ = false;              // there is new work after last_
  std::shared_ptr<CompletionPoint> last_;  // after all work appended before it
};

}  // namespace arrowdevice::level_zero
