// SPDX-License-Identifier: Apache-2.0
// Queues and their events: streams and vendor events that the library owns or borrows.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <memory>
#include <span>

#include "cuda_like/device.h"
#include "cuda_like/gpu.h"

namespace arrowdevice::cuda_like {

// An event that the library creates or borrows from a producer. The format publishes the address of the event's handle.
class Event {
 public:
  // Makes an event to record. Until then, its state has no meaning.
  explicit Event(Gpu& gpu);
  // Borrows a foreign event. Throws Error(EINVAL) if the address holds no event.
  Event(Gpu& gpu, const NativeEvent* published);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Gpu& gpu() const noexcept { return gpu_; }
  NativeEvent native() const noexcept { return native_; }
  NativeEvent* published() noexcept { return &native_; }

  bool is_borrowed() const noexcept { return is_borrowed_; }

  bool is_done() const;
  // Throws Error(ETIMEDOUT) if the limit passes first. ARROWDEVICE_NO_TIMEOUT waits without limit.
  void wait(int64_t timeout_ns) const;

 private:
  void poll(Driver& driver, int64_t timeout_ns) const;
  bool is_done_soon(Driver& driver) const;

  Gpu& gpu_;
  NativeEvent native_;
  const bool is_borrowed_;
};

// A stream that the library owns or that it borrows from the application.
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

  // Returns true if an application is capturing the stream into a graph, so that its work does not run.
  bool is_captured(Driver& driver) const { return is_known_outside_ && driver.is_capturing(stream_); }

  // Gives the stream to the application, which may capture it from then on.
  Stream give_stream() noexcept {
    is_known_outside_ = true;
    return stream_;
  }

  void copy(std::span<const arrowdevice_backend_region> regions);
  std::unique_ptr<Event> record();
  void wait(const Event& event);

  // Throws Error(EBUSY) for such a stream.
  void check_not_capturing(Driver& driver) const;

 private:
  Device& device_;
  const Stream stream_;
  const bool is_borrowed_;
  bool is_known_outside_ = false;  // the application may capture the stream
};

}  // namespace arrowdevice::cuda_like
