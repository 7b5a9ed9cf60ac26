// SPDX-License-Identifier: Apache-2.0
// The part of the DLPack 1 ABI that exchanges tensors. The names are the library's own, so that a program may include
// dlpack/dlpack.h beside the library's headers.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cstddef>
#include <cstdint>

namespace arrowdevice::interop {

struct Version {
  uint32_t major;  // another major version has other structs
  uint32_t minor;  // another minor version has at most other codes
};

struct TensorDevice {
  int32_t type;  // the same numbers as ARROW_DEVICE_*, if both have the type
  int32_t id;
};

struct Dtype {
  uint8_t code;  // kInt and the other codes
  uint8_t bits;
  uint16_t lanes;

  static constexpr uint8_t kInt = 0;
  static constexpr uint8_t kUInt = 1;
  static constexpr uint8_t kFloat = 2;
  static constexpr uint8_t kBfloat = 4;
  static constexpr uint8_t kComplex = 5;
  static constexpr uint8_t kBool = 6;
};

struct Tensor {
  void* data;  // an address or a handle, depending on the device
  TensorDevice device;
  int32_t ndim;
  Dtype dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; NULL, before 1.2: compact, row-major
  uint64_t byte_offset;
};

// The struct that C calls DLManagedTensorVersioned.
struct ManagedTensor {
  Version version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);  // may be NULL
  uint64_t flags;
  Tensor tensor;

  static constexpr uint32_t kMajor = 1;
  static constexpr uint64_t kReadOnly = 1;
};

static_assert(sizeof(Version) == 8 && sizeof(TensorDevice) == 8 && sizeof(Dtype) == 4);
static_assert(offsetof(Dtype, bits) == 1 && offsetof(Dtype, lanes) == 2);
static_assert(offsetof(Tensor, data) == 0);
static_assert(offsetof(Tensor, device) == 8);
static_assert(offsetof(Tensor, ndim) == 16);
static_assert(offsetof(Tensor, dtype) == 20);
static_assert(offsetof(Tensor, shape) == 24);
static_assert(offsetof(Tensor, strides) == 32);
static_assert(offsetof(Tensor, byte_offset) == 40);
static_assert(sizeof(Tensor) == 48);
static_assert(offsetof(ManagedTensor, version) == 0);
static_assert(offsetof(ManagedTensor, manager_ctx) == 8);
static_assert(offsetof(ManagedTensor, deleter) == 16);
static_assert(offsetof(ManagedTensor, flags) == 24);
static_assert(offsetof(ManagedTensor, tensor) == 32);
static_assert(sizeof(ManagedTensor) == 80);

inline DLManagedTensorVersioned* to_c(ManagedTensor* tensor) noexcept {
  return reinterpret_cast<DLManagedTensorVersioned*>(tensor);
}
inline ManagedTensor* from_c(DLManagedTensorVersioned* tensor) noexcept {
  return reinterpret_cast<ManagedTensor*>(tensor);
}

}  // namespace arrowdevice::interop
