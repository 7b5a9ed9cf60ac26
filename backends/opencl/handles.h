// SPDX-License-Identifier: Apache-2.0
// Owners of OpenCL's reference-counted objects. Each holds one reference.
#pragma once

#include <utility>

#include "opencl/api.h"
#include "opencl/codes.h"

namespace arrowdevice::opencl {

template <typename Handle>
struct Counting;

#define ARROWDEVICE_OPENCL_COUNTING(handle, object)                                               \
  template <>                                                                                     \
  struct Counting<handle> {                                                                       \
    static void retain(handle one) { check("clRetain" #object, api().clRetain##object(one)); }    \
    /* Ignores the result, because the caller cannot handle a failed release. */                  \
    static void release(handle one) noexcept { static_cast<void>(api().clRelease##object(one)); } \
  };
ARROWDEVICE_OPENCL_COUNTING(cl_context, Context)
ARROWDEVICE_OPENCL_COUNTING(cl_command_queue, CommandQueue)
ARROWDEVICE_OPENCL_COUNTING(cl_mem, MemObject)
ARROWDEVICE_OPENCL_COUNTING(cl_event, Event)
#undef ARROWDEVICE_OPENCL_COUNTING

template <typename Handle>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (handle_ != nullptr) Counting<Handle>::release(handle_);
  }
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  // Takes ownership of the reference that came with a handle.
  static Owned wrap(Handle handle) noexcept {
    Owned owned;
    owned.handle_ = handle;
    return owned;
  }

  // Adds a reference to a foreign object.
  static Owned share(Handle handle) {
    Counting<Handle>::retain(handle);
    return wrap(handle);
  }

  Handle get() const noexcept { return handle_; }
  Handle take() noexcept { return std::exchange(handle_, nullptr); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // Returns the address of the handle, which a published event points to.
  Handle* place() noexcept { return &handle_; }

 private:
  Handle handle_ = nullptr;
};

}  // namespace arrowdevice::opencl
