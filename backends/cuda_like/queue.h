// SPDX-License-Identifier: Apache-2.0
// A queue: a stream that the library owns or that it borrows from the application.
#pragma once

#include <arrowdevice/backend.h>

#include <memory>
#include <span>

#include "cuda_like/device.h"
#include "cuda_like/event.h"

namespace arrowdevice::cuda_like {

class Queue {
 public:
  explicit Queue(Device& device);
  // NULL is the default stream. Throws Error(EINVAL) for a stream of another GPU or context.
  Queue(Device& device, Stream borrowed);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Gpu& gpu() const noexcept { return device_.gpu; }
  Stream stream() const noexcept { return stream_; }

  void copy(std::span<const arrowdevice_backend_region> regions);
  std::unique_ptr<Event> record();
  void wait(const Event& event);

 private:
  Device& device_;
  const Stream stream_;
  const bool is_borrowed_;
};

}  // namespace arrowdevice::cuda_like
