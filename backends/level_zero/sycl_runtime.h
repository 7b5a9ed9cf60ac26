// SPDX-License-Identifier: Apache-2.0
// The SYCL runtime that a producer has loaded into the process. A sycl::event is a C++ object, and only the runtime
// that created it can query it. The library calls two functions by their mangled names.
#pragma once

#include <cstdint>
#include <memory>

namespace arrowdevice::level_zero {

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

}  // namespace arrowdevice::level_zero
