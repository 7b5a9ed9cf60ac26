// SPDX-License-Identifier: Apache-2.0
// The SYCL runtime that a producer has loaded into the process. A sycl::event is an object of C++, which only the
// runtime that made it can be asked about: by the names that its compiler gave two functions.
#pragma once

#include <cstdint>
#include <memory>

namespace arrowdevice::level_zero {

class SyclRuntime {
 public:
  // Of those that are loaded. Throws ENOTSUP with the reason where there is none, and where there are several: an event
  // does not tell whose it is.
  static SyclRuntime find();

  // Whether it can be asked about an event without waiting for it.
  bool has_status() const noexcept { return status_ != nullptr; }

  // Throw EIO with what the runtime threw.
  bool is_complete(void* event) const;
  void wait(void* event) const;

 private:
  using Wait = void(void* event);
  using Status = int32_t(const void* event);

  SyclRuntime(std::shared_ptr<void> library, Wait* wait_function, Status* status_function)
      : library_(std::move(library)), wait_(wait_function), status_(status_function) {}
  static SyclRuntime of(std::shared_ptr<void> library);

  std::shared_ptr<void> library_;  // stays loaded
  Wait* wait_;
  Status* status_;
};

}  // namespace arrowdevice::level_zero
