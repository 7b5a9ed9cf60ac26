// SPDX-License-Identifier: Apache-2.0
#include "hip/library.h"

#include <unistd.h>

#include <cerrno>

namespace arrowdevice::hip {
namespace {

// The newest version is first, because current programs load it.
constexpr const char* kNames[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
constexpr const char* kKernelDriver = "/dev/kfd";

constexpr int kMajorUnit = 10'000'000;
constexpr int kMinorUnit = 100'000;

std::string version_text(int version) {
  return format("HIP %d.%d", version / kMajorUnit, version % kMajorUnit / kMinorUnit);
}

int code_of(hipError_t result) {
  switch (result) {
    case hipErrorOutOfMemory: return ENOMEM;
    case hipErrorInvalidValue:
    case hipErrorInvalidDevicePointer:
    case hipErrorInvalidHandle: return EINVAL;
    case hipErrorNoDevice:
    case hipErrorInvalidDevice:
    case hipErrorInsufficientDriver: return ENODEV;
    case hipErrorNotSupported: return ENOTSUP;
    case hipErrorStreamCaptureUnsupported:
    case hipErrorStreamCaptureImplicit:
    case hipErrorCapturedEvent: return EBUSY;
    default: return EIO;
  }
}

}  // namespace

Library::Library() : library_(kNames) {
  load();
  start();
}

int Library::major() const noexcept { return version_ / kMajorUnit; }

template <typename Function>
void Library::find(Function** out, const char* name) {
  *out = reinterpret_cast<Function*>(library_.find(name));
}

void Library::load() {
#define X(name, version, parameters) find(&(name), #name);
  ARROWDEVICE_HIP_SYMBOLS(X)
#undef X
  find(&get_error_name_, "hipGetErrorName");
  const bool known = hipRuntimeGetVersion != nullptr && hipRuntimeGetVersion(&version_) == hipSuccess;
  const std::string runtime = library_.name() + (known ? " is " + version_text(version_) : std::string());
#define X(name, version, parameters)                                                                 \
  if ((name) == nullptr) {                                                                           \
    throw Error(ENODEV, runtime + " and too old: it has no " #name ", which came with HIP " #version \
                                  "; install ROCm 5.2 or newer");                                    \
  }
  ARROWDEVICE_HIP_REQUIRED(X)
#undef X
}

void Library::start() {
  hipError_t result = hipInit(0);
  const char* call = "hipInit";
  // On a machine without a GPU, some versions fail in hipInit and others only in hipGetDeviceCount.
  if (result == hipSuccess) {
    int count = 0;
    call = "hipGetDeviceCount";
    result = hipGetDeviceCount(&count);
  }
  if (result == hipSuccess) return;
  const std::string reason = std::string(call) + ": " + name_of(result) + ": ";
  forget_error();
  const bool kernel_driver = ::access(kKernelDriver, F_OK) == 0;
  const bool readable = kernel_driver && ::access(kKernelDriver, R_OK | W_OK) == 0;
  throw Error(
      ENODEV,
      reason + (readable        ? "the driver is there, but it has no GPU, or HIP_VISIBLE_DEVICES hides them"
                : kernel_driver ? "this user may not open /dev/kfd: it needs the group render or video"
                                : library_.name() + " is there, but the kernel's driver (amdgpu) is not loaded: "
                                                    "there is no /dev/kfd"),
      {}, static_cast<int>(result));
}

std::string Library::name_of(hipError_t result) const {
  const char* name = get_error_name_ != nullptr ? get_error_name_(result) : nullptr;
  return format("%s (%d)", name != nullptr ? name : "an error without a name", static_cast<int>(result));
}

void Library::forget_error() const noexcept { [[maybe_unused]] const hipError_t last = hipGetLastError(); }

void Library::check(const char* call, hipError_t result, const std::string& detail) const {
  if (result == hipSuccess) return;
  forget_error();
  throw Error(code_of(result), std::string(call) + ": " + name_of(result) + (detail.empty() ? "" : ": " + detail), {},
              static_cast<int>(result));
}

bool Library::has(int ordinal, hipDeviceAttribute_t attribute) const {
  int value = 0;
  check("hipDeviceGetAttribute", hipDeviceGetAttribute(&value, attribute, ordinal));
  return value != 0;
}

}  // namespace arrowdevice::hip
