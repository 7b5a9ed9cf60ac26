// SPDX-License-Identifier: Apache-2.0
// libamdhip64: its entry points and the names of its errors.
#pragma once

#include <string>

#include "base/error.h"
#include "cuda_like/vendor_library.h"
#include "hip/api.h"
#include "hip/symbols.h"

namespace arrowdevice::hip {

#define X(name, version, parameters) using name##_function = hipError_t parameters;
ARROWDEVICE_HIP_SYMBOLS(X)
#undef X

inline hipMemLocation location_of(int ordinal) { return {.type = hipMemLocationTypeDevice, .id = ordinal}; }

class Library {
 public:
  // Opens the newest library and starts it. Throws Error(ENODEV) with the reason if there is no library, if there is no
  // device, or if the library is too old.
  Library();

#define X(name, version, parameters) name##_function* name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  ARROWDEVICE_HIP_SYMBOLS(X)
#undef X

  int version() const noexcept { return version_; }  // 50221153 for HIP 5.2
  int major() const noexcept;

  // Throws an Error unless `result` is success: "hipMalloc: hipErrorOutOfMemory (2): 8388608 bytes".
  void check(const char* call, hipError_t result, const std::string& detail = {}) const;

  // Returns true if the attribute of the GPU is not 0.
  bool has(int ordinal, hipDeviceAttribute_t attribute) const;

  // Clears an expected failure, because the program must not see it in hipGetLastError().
  void forget_error() const noexcept;

 private:
  std::string name_of(hipError_t result) const;
  void load();
  void start();
  template <typename Function>
  void find(Function** out, const char* name);

  cuda_like::VendorLibrary library_;
  const char* (*get_error_name_)(hipError_t) = nullptr;
  int version_ = 0;
};

}  // namespace arrowdevice::hip
