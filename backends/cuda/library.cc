// SPDX-License-Identifier: Apache-2.0
#include "cuda/library.h"

#include <unistd.h>

#include <cerrno>

namespace arrowdevice::cuda {
namespace {

constexpr const char* kNames[] = {"libcuda.so.1"};
constexpr const char* kKernelDriver = "/proc/driver/nvidia/version";

// Attributes of pointers that the backend needs came with this version.
constexpr int kOldest = 10020;

// Requests plain functions, not the variants for the per-thread default stream.
constexpr cuuint64_t kLegacyStream = 1;

// The two signatures of cuGetProcAddress.
using GetProcAddress11 = CUresult(const char* symbol, void** function, int version, cuuint64_t flags);
using GetProcAddress12 = CUresult(const char* symbol, void** function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult* status);

std::string version_text(int version) { return format("CUDA %d.%d", version / 1000, version % 1000 / 10); }

int code_of(CUresult result) {
  if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) return EBUSY;
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY: return ENOMEM;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE: return EINVAL;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: return ENODEV;
    case CUDA_ERROR_NOT_SUPPORTED: return ENOTSUP;
    default: return EIO;
  }
}

// Returns advice for the user if the driver does not start.
const char* advice(CUresult result) {
  const bool kernel_driver = ::access(kKernelDriver, F_OK) == 0;
  switch (result) {
    case CUDA_ERROR_STUB_LIBRARY:
      return "this libcuda.so.1 is the toolkit's stub, made to link with: put the driver's own one before it in the "
             "search path";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "libcuda.so.1 and the kernel's driver are of different versions: restart, or install them together";
    case CUDA_ERROR_NO_DEVICE:
      return kernel_driver ? "the driver is there, but it has no GPU, or CUDA_VISIBLE_DEVICES hides them"
                           : "libcuda.so.1 is there, but the kernel's driver (nvidia.ko) is not loaded";
    default: return kernel_driver ? "the driver does not start" : "the kernel's driver (nvidia.ko) is not loaded";
  }
}

}  // namespace

Library::Library() : library_(kNames) {
  get_proc_address_ = library_.find("cuGetProcAddress_v2");
  get_proc_address_11_ = library_.find("cuGetProcAddress");
  load();
  start();
}

void* Library::look_up(const char* name, int version, const char* suffix) const {
  void* function = nullptr;
  if (get_proc_address_ != nullptr) {
    auto status = CU_GET_PROC_ADDRESS_SUCCESS;
    const auto get = reinterpret_cast<GetProcAddress12*>(get_proc_address_);
    return get(name, &function, version, kLegacyStream, &status) == CUDA_SUCCESS ? function : nullptr;
  }
  if (get_proc_address_11_ != nullptr) {
    const auto get = reinterpret_cast<GetProcAddress11*>(get_proc_address_11_);
    return get(name, &function, version, kLegacyStream) == CUDA_SUCCESS ? function : nullptr;
  }
  return library_.find((std::string(name) + suffix).c_str());
}

template <typename Function>
void Library::find(Function** out, const char* name, int version, const char* suffix) {
  *out = reinterpret_cast<Function*>(look_up(entry_name(name).c_str(), version, suffix));
}

void Library::load() {
#define X(name, version, suffix, parameters) find(&(name), #name, version, suffix);
  ARROWDEVICE_CUDA_SYMBOLS(X)
#undef X
#define X(name, version, suffix) \
  if (void* const newer = look_up(#name, version, suffix)) (name) = reinterpret_cast<decltype(name)>(newer);
  ARROWDEVICE_CUDA_NEWER_FORMS(X)
#undef X
  int version = 0;
  const bool known = cuDriverGetVersion != nullptr && cuDriverGetVersion(&version) == CUDA_SUCCESS;
  const std::string driver = library_.name() + (known ? " is a driver for " + version_text(version) : " is a driver");
  const std::string advice = "; install a driver for " + version_text(kOldest) + " or newer";
  if (known && version < kOldest) throw Error(ENODEV, driver + ", which is too old" + advice);
#define X(name, version, suffix, parameters)                                                    \
  if ((name) == nullptr) {                                                                      \
    throw Error(ENODEV, driver + " and too old: it has no " #name suffix ", which came with " + \
                            version_text(version) + advice);                                    \
  }
  ARROWDEVICE_CUDA_REQUIRED(X)
#undef X
}

void Library::start() {
  const CUresult result = cuInit(0);
  if (result != CUDA_SUCCESS) {
    throw Error(ENODEV, "cuInit: " + name_of(result) + ": " + advice(result), {}, static_cast<int>(result));
  }
  check("cuDriverGetVersion", cuDriverGetVersion(&version_));
}

std::string Library::name_of(CUresult result) const {
  const char* name = nullptr;
  const bool known = cuGetErrorName(result, &name) == CUDA_SUCCESS && name != nullptr;
  return format("%s (%d)", known ? name : "an error without a name", static_cast<int>(result));
}

Error Library::failure(const char* call, CUresult result, const std::string& detail) const {
  return {code_of(result),
          std::string(call) + ": " + name_of(result) + (detail.empty() ? "" : ": " + detail),
          {},
          static_cast<int>(result)};
}

void Library::check(const char* call, CUresult result, const std::string& detail) const {
  if (result != CUDA_SUCCESS) throw failure(call, result, detail);
}

CUdevice Library::device_at(int ordinal) const {
  CUdevice device = 0;
  check("cuDeviceGet", cuDeviceGet(&device, ordinal));
  return device;
}

CUmemLocation Library::location_of(int ordinal) const {
  return {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_at(ordinal)};
}

bool Library::has(CUdevice device, CUdevice_attribute attribute) const {
  int value = 0;
  check("cuDeviceGetAttribute", cuDeviceGetAttribute(&value, attribute, device));
  return value != 0;
}

}  // namespace arrowdevice::cuda
