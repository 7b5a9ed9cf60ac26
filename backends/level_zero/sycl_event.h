// SPDX-License-Identifier: Apache-2.0
// An event that another producer published: the format's form of one is a sycl::event.
#pragma once

#include <atomic>

#include "level_zero/event.h"
#include "level_zero/sycl_runtime.h"

namespace arrowdevice::level_zero {

// Borrows it.
class SyclEvent final : public Event {
 public:
  // Throws ENOTSUP where no SYCL runtime is loaded.
  explicit SyclEvent(void* event) : event_(event), runtime_(SyclRuntime::find()) {}

  // Both throw ENOTSUP where the runtime cannot be asked without waiting, unless it has been waited for already; wait()
  // with a time-out only.
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
