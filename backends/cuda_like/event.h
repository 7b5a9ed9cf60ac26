// SPDX-License-Identifier: Apache-2.0
// An event: ours, or another producer's that is borrowed. What the format publishes is the address of its handle.
#pragma once

#include <cstdint>

#include "cuda_like/gpu.h"

namespace arrowdevice::cuda_like {

class Event {
 public:
  // One that the driver holds to have fired until it is recorded.
  explicit Event(Gpu& gpu);
  // A foreign one. Throws Error(EINVAL) if there is none at that address.
  Event(Gpu& gpu, const NativeEvent* published);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Gpu& gpu() const noexcept { return gpu_; }
  NativeEvent native() const noexcept { return native_; }
  NativeEvent* published() noexcept { return &native_; }

  bool is_done() const;
  // Throws Error(ETIMEDOUT). Negative: for ever.
  void wait(int64_t timeout_ns) const;

 private:
  Gpu& gpu_;
  NativeEvent native_;
  const bool is_borrowed_;
};

}  // namespace arrowdevice::cuda_like
