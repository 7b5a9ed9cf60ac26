// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1: its entry points and the names of its errors.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "cuda/api.h"
#include "cuda/symbols.h"
#include "cuda_like/vendor_library.h"

namespace arrowdevice::cuda {

#define X(name, version, suffix, parameters) using name##_function = CUresult parameters;
ARROWDEVICE_CUDA_SYMBOLS(X)
#undef X

inline CUdeviceptr address_of(const void* memory) {
  return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(memory));
}
inline void* pointer_to(CUdeviceptr address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

class Library {
 public:
  // Opens the library and starts the driver. Throws Error(ENODEV) with the reason if there is no driver, if there is no
  // device, or if the driver is too old.
  Library();

#define X(name, version, suffix, parameters) name##_function* name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  ARROWDEVICE_CUDA_SYMBOLS(X)
#undef X

  int version() const noexcept { return version_; }  // 12040 for CUDA 12.4

  // Throws an Error unless `result` is success: "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): 8388608 bytes".
  void check(const char* call, CUresult result, const std::string& detail = {}) const;

  CUdevice device_at(int ordinal) const;
  CUmemLocation location_of(int ordinal) const;
  // Returns true if the attribute of the device is not 0.
  bool has(CUdevice device, CUdevice_attribute attribute) const;

 private:
  Error failure(const char* call, CUresult result, const std::string& detail) const;
  std::string name_of(CUresult result) const;
  void load();
  void start();
  template <typename Function>
  void find(Function** out, const char* name, int version, const char* suffix);
  void* look_up(const char* name, int version, const char* suffix) const;

  cuda_like::VendorLibrary library_;
  void* get_proc_address_ = nullptr;  // from CUDA 12.0 on
  void* get_proc_address_11_ = nullptr;
  int version_ = 0;
};

}  // namespace arrowdevice::cuda
