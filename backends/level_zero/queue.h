// SPDX-License-Identifier: Apache-2.0
// A queue: an immediate command list of ours, or an application's that is borrowed.
#pragma once

#include <arrowdevice/backend.h>

#include <atomic>
#include <memory>
#include <span>

#include "level_zero/completion_point.h"
#include "level_zero/device.h"
#include "level_zero/event.h"

namespace arrowdevice::level_zero {

// Calls on one queue are serialised by the library.
class Queue {
 public:
  explicit Queue(Device& device);
  // Throws EINVAL for NULL.
  Queue(Device& device, ze_command_list_handle_t borrowed);
  // Returns at once: work in flight survives.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // From then on the application may append to it too.
  ze_command_list_handle_t native() noexcept {
    is_shared_.store(true, std::memory_order_relaxed);
    return list_;
  }

  void copy(std::span<const arrowdevice_backend_region> regions);
  std::unique_ptr<Event> record();
  void wait_for(Event& event);

  // Given back once what the queue has to do so far is over.
  void free_behind(void* memory) noexcept;

 private:
  std::shared_ptr<CompletionPoint> append_point(const std::shared_ptr<CompletionPoint>& awaited);
  void append_barrier();
  bool is_shared() const noexcept { return is_shared_.load(std::memory_order_relaxed); }

  Device& device_;
  ze_command_list_handle_t list_ = nullptr;
  const bool is_borrowed_;
  std::atomic<bool> is_shared_;            // others append to it as well
  bool is_in_order_ = false;               // else barriers make it so
  bool may_overtake_ = false;              // what comes next, what was appended
  bool has_new_work_ = false;              // since last_
  std::shared_ptr<CompletionPoint> last_;  // after all work of its time
};

}  // namespace arrowdevice::level_zero
