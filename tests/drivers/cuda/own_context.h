// SPDX-License-Identifier: Apache-2.0
// A context that an application creates on the stand-in for CUDA.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <string>

#include "drivers/vendor.h"

namespace drivers::cuda {

inline void must_cuda(int result, const char* what) {
  expect(result == 0, std::string(what) + ": " + std::to_string(result));
}

// A context of the application, and functions to create objects while it is current.
class Context {
 public:
  explicit Context(int ordinal) {
    must_cuda(call("cuInit", 0u), "cuInit");
    must_cuda(call("cuCtxCreate_v2", &native_, 0u, ordinal), "cuCtxCreate_v2");
    void* current = nullptr;
    must_cuda(call("cuCtxPopCurrent_v2", &current), "cuCtxPopCurrent_v2");
  }
  ~Context() { call("cuCtxDestroy_v2", native_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void* get() const { return native_; }

  template <typename... Arguments>
  void run(const char* symbol, Arguments... arguments) const {
    must_cuda(call("cuCtxPushCurrent_v2", native_), "cuCtxPushCurrent_v2");
    must_cuda(call(symbol, arguments...), symbol);
    void* current = nullptr;
    must_cuda(call("cuCtxPopCurrent_v2", &current), "cuCtxPopCurrent_v2");
  }

  void* create_stream() const {
    void* stream = nullptr;
    run("cuStreamCreate", &stream, 1u);
    return stream;
  }

 private:
  void* native_ = nullptr;
};

inline arrowdevice_native_device handles_of(void* context) {
  auto native = sized<arrowdevice_native_device>();
  native.context = context;
  return native;
}

}  // namespace drivers::cuda
