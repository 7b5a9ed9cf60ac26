// SPDX-License-Identifier: Apache-2.0
// A context: all memory, queues and events that can be used together.
#pragma once

#include "level_zero/events.h"
#include "level_zero/pending_completions.h"

namespace arrowdevice::level_zero {

// Lives as long as the process, like the driver's context unless the application owns it. All functions are
// thread-safe.
class Context {
 public:
  explicit Context(ze_context_handle_t native) noexcept : native_(native), events_(native) {}

  ze_context_handle_t native() const noexcept { return native_; }
  Events& events() noexcept { return events_; }
  PendingCompletions& unfinished() noexcept { return unfinished_; }

  // Removes the library's objects from a wrapped context that the application unwraps. Returns false if the driver does
  // not confirm that work has finished. The application may wrap the context again later.
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
