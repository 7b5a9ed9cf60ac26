// SPDX-License-Identifier: Apache-2.0
// Foreign events, which the format represents as a sycl::event, and the SYCL runtime that can query them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "level_zero/event.h"

namespace arrowdevice::level_zero {

// The SYCL runtime that a producer has loaded into the process. A sycl::event is a C++ object, and only the runtime
// that created it can query it. The library calls two functions by their mangled names.
class SyclRuntime {
 public:
  // Finds the loaded runtime. Throws ENOTSUP with the reason if no runtime or several runtimes are loaded, because an
  // event does not name its runtime.
  static SyclRuntime find();

  // Returns true if the runtime can report an event's status without a wait.
  bool has_status() const noexcept { return status_ != nullptr; }

  // Both functions throw EIO with the runtime's exception.
  bool is_complete(void* event) const;
  void wait(void* event) const;

 private:
  using Wait = void(void* event);
  using Status = int32_t(const void* event);

  SyclRuntime(std::shared_ptr<void> library, Wait* wait_function, Status* status_function)
      : library_(std::move(library)), wait_(wait_function), status_(status_function) {}
  static SyclRuntime of(std::shared_ptr<void> library);

  std::shared_ptr<void> library_;  // keeps the library loaded
  Wait* wait_;
  Status* status_;
};

// A foreign event. Borrows the sycl::event.
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
