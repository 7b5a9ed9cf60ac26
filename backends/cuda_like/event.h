// SPDX-License-Identifier: Apache-2.0
// An event that the library creates or borrows from a producer. The format publishes the address of the event's handle.
#pragma once

#include <cstdint>

#include "cuda_like/gpu.h"

namespace arrowdevice::cuda_like {

class Event {
 public:
  // Creates an event. The driver reports it as complete until it is recorded.
  explicit Event(Gpu& gpu);
  // Borrows a foreign event. Throws Error(EINVAL) if the address holds no event.
  Event(Gpu& gpu, const NativeEvent* published);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Gpu& gpu() const noexcept { return gpu_; }
  NativeEvent native() const noexcept { return native_; }
  NativeEvent* published() noexcept { return &native_; }

  bool is_done() const;
  // Throws Error(ETIMEDOUT) if the limit passes first. ARROWDEVICE_NO_TIMEOUT waits without limit.
  void wait(int64_t timeout_ns) const;

 private:
  Gpu& gpu_;
  NativeEvent native_;
  const bool is_borrowed_;
};

}  // namespace arrowdevice::cuda_like
