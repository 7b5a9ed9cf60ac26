// SPDX-License-Identifier: Apache-2.0
// A foreign event. The format represents it as a sycl::event.
#pragma once

#include <atomic>

#include "level_zero/event.h"
#include "level_zero/sycl_runtime.h"

namespace arrowdevice::level_zero {

// Borrows the sycl::event.
class SyclEvent final : public Event {
 public:
  // Throws ENOTSUP if no SYCL runtime is loaded.
  explicit SyclEvent(void* event) : event_(event), runtime_(SyclRuntime::find()) {}

  // Both functions throw ENOTSUP if the runtime cannot report the status without a wait, unless the library has already
  // waited for the event. wait() throws it only with a time limit.
  bool is_ready() override;
  void wait(int64_t timeout_ns) override;

  std::shared_ptr<CompletionPoint> point() const override { return nullptr; }

 private:
  void check_has_status() const;

  void* const event_;
  const SyclRuntime runtime_;
  std::atomic<bool> is_complete_{false};
};

}  // namespace arrowdevice::level_zero
