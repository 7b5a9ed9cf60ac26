// SPDX-License-Identifier: Apache-2.0
// Compares the declarations of DLPack in src/interop with DLPack's own header, because a program may include both. The
// file is compiled and not run.
#include <arrowdevice/arrowdevice.h>
#include <dlpack/dlpack.h>

#include "interop/dlpack.h"

using arrowdevice::interop::Dtype;
using arrowdevice::interop::ManagedTensor;
using arrowdevice::interop::Tensor;
using arrowdevice::interop::TensorDevice;
using arrowdevice::interop::Version;

static_assert(DLPACK_MAJOR_VERSION == ManagedTensor::kMajor);
static_assert(DLPACK_FLAG_BITMASK_READ_ONLY == ManagedTensor::kReadOnly);

static_assert(sizeof(DLPackVersion) == sizeof(Version));
static_assert(offsetof(DLPackVersion, major) == offsetof(Version, major));
static_assert(offsetof(DLPackVersion, minor) == offsetof(Version, minor));

static_assert(sizeof(DLDevice) == sizeof(TensorDevice));
static_assert(offsetof(DLDevice, device_type) == offsetof(TensorDevice, type));
static_assert(offsetof(DLDevice, device_id) == offsetof(TensorDevice, id));

static_assert(sizeof(DLDataType) == sizeof(Dtype));
static_assert(offsetof(DLDataType, code) == offsetof(Dtype, code));
static_assert(offsetof(DLDataType, bits) == offsetof(Dtype, bits));
static_assert(offsetof(DLDataType, lanes) == offsetof(Dtype, lanes));

static_assert(sizeof(DLTensor) == sizeof(Tensor));
static_assert(offsetof(DLTensor, data) == offsetof(Tensor, data));
static_assert(offsetof(DLTensor, device) == offsetof(Tensor, device));
static_assert(offsetof(DLTensor, ndim) == offsetof(Tensor, ndim));
static_assert(offsetof(DLTensor, dtype) == offsetof(Tensor, dtype));
static_assert(offsetof(DLTensor, shape) == offsetof(Tensor, shape));
static_assert(offsetof(DLTensor, strides) == offsetof(Tensor, strides));
static_assert(offsetof(DLTensor, byte_offset) == offsetof(Tensor, byte_offset));

static_assert(sizeof(DLManagedTensorVersioned) == sizeof(ManagedTensor));
static_assert(offsetof(DLManagedTensorVersioned, version) == offsetof(ManagedTensor, version));
static_assert(offsetof(DLManagedTensorVersioned, manager_ctx) == offsetof(ManagedTensor, manager_ctx));
static_assert(offsetof(DLManagedTensorVersioned, deleter) == offsetof(ManagedTensor, deleter));
static_assert(offsetof(DLManagedTensorVersioned, flags) == offsetof(ManagedTensor, flags));
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == offsetof(ManagedTensor, tensor));

static_assert(int{kDLInt} == Dtype::kInt && int{kDLUInt} == Dtype::kUInt && int{kDLFloat} == Dtype::kFloat);
static_assert(int{kDLBfloat} == Dtype::kBfloat && int{kDLComplex} == Dtype::kComplex && int{kDLBool} == Dtype::kBool);

static_assert(kDLCPU == ARROW_DEVICE_CPU && kDLCUDA == ARROW_DEVICE_CUDA && kDLCUDAHost == ARROW_DEVICE_CUDA_HOST);
static_assert(kDLOpenCL == ARROW_DEVICE_OPENCL && kDLVulkan == ARROW_DEVICE_VULKAN && kDLMetal == ARROW_DEVICE_METAL);
static_assert(kDLVPI == ARROW_DEVICE_VPI && kDLROCM == ARROW_DEVICE_ROCM && kDLROCMHost == ARROW_DEVICE_ROCM_HOST);
static_assert(kDLExtDev == ARROW_DEVICE_EXT_DEV && kDLCUDAManaged == ARROW_DEVICE_CUDA_MANAGED);
static_assert(kDLOneAPI == ARROW_DEVICE_ONEAPI && kDLWebGPU == ARROW_DEVICE_WEBGPU);
static_assert(kDLHexagon == ARROW_DEVICE_HEXAGON);
