// SPDX-License-Identifier: Apache-2.0
// A context: all memory, queues and events that may be used together.
#pragma once

#include "level_zero/events.h"
#include "level_zero/pending_completions.h"

namespace arrowdevice::level_zero {

// Lives as long as the process, and so does the driver's context unless it is an application's. Thread-safety: free.
class Context {
 public:
  explicit Context(ze_context_handle_t native) noexcept : native_(native), events_(native) {}

  ze_context_handle_t native() const noexcept { return native_; }
  Events& events() noexcept { return events_; }
  PendingCompletions& unfinished() noexcept { return unfinished_; }

  // The application takes it back: nothing of ours is left in it, unless the driver does not say that work is over. It
  // may come again.
  bool leave(PhysicalDevice& user) noexcept {
    if (!unfinished_.drain()) return false;
    if (!user.is_lost()) events_.destroy(user);
    return true;
  }

 private:
  const ze_context_handle_t native_;
  Events events_;
  PendingCompletions unfinished_;
};

}  // namespace arrowdevice::level_zero
