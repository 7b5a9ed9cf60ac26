// SPDX-License-Identifier: Apache-2.0
#include "level_zero/api.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "cuda_like/vendor_library.h"

namespace arrowdevice::level_zero {
namespace {

const char* name_of(ze_result_t result) {
  switch (result) {
#define NAMED(code) \
  case code: return #code;
    NAMED(ZE_RESULT_NOT_READY)
    NAMED(ZE_RESULT_ERROR_DEVICE_LOST)
    NAMED(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
    NAMED(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
    NAMED(ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET)
    NAMED(ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE)
    NAMED(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS)
    NAMED(ZE_RESULT_ERROR_NOT_AVAILABLE)
    NAMED(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
    NAMED(ZE_RESULT_ERROR_UNINITIALIZED)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
    NAMED(ZE_RESULT_ERROR_INVALID_ARGUMENT)
    NAMED(ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
    NAMED(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
    NAMED(ZE_RESULT_ERROR_INVALID_NULL_POINTER)
    NAMED(ZE_RESULT_ERROR_INVALID_SIZE)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_SIZE)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT)
    NAMED(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT)
    NAMED(ZE_RESULT_ERROR_INVALID_ENUMERATION)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
    NAMED(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE)
    NAMED(ZE_RESULT_ERROR_OVERLAPPING_REGIONS)
    NAMED(ZE_RESULT_WARNING_ACTION_REQUIRED)
    NAMED(ZE_RESULT_ERROR_UNKNOWN)
#undef NAMED
    default: return "unknown code";
  }
}

int errno_of(std::string_view call, ze_result_t result) {
  switch (result) {
    case ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY:
    case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY: return ENOMEM;
    // The library never requests empty memory, so the size exceeds the limit of one allocation.
    case ZE_RESULT_ERROR_UNSUPPORTED_SIZE: return call.starts_with("zeMemAlloc") ? ENOMEM : EINVAL;
    case ZE_RESULT_ERROR_UNSUPPORTED_VERSION:
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
    case ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT:
    case ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION: return ENOTSUP;
    case ZE_RESULT_ERROR_UNINITIALIZED:
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE: return ENODEV;
    case ZE_RESULT_ERROR_INVALID_ARGUMENT:
    case ZE_RESULT_ERROR_INVALID_NULL_HANDLE:
    case ZE_RESULT_ERROR_INVALID_NULL_POINTER:
    case ZE_RESULT_ERROR_INVALID_SIZE:
    case ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT:
    case ZE_RESULT_ERROR_INVALID_ENUMERATION:
    case ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE:
    case ZE_RESULT_ERROR_OVERLAPPING_REGIONS: return EINVAL;
    default: return EIO;
  }
}

constexpr const char* kNames[] = {"libze_loader.so.1"};
constexpr const char* kGpuNodes = "/dev/dri";

std::mutex opening;  // guards `refusal`
std::optional<Error> refusal;
std::atomic<const Api*> opened{nullptr};

template <typename Function>
void find(Function** out, const cuda_like::VendorLibrary& library, const char* symbol) {
  *out = reinterpret_cast<Function*>(library.find(symbol));
  if (*out == nullptr) {
    throw Error(ENODEV, library.name() + " is too old: it has no " + symbol + ", which came with Level Zero 1.0");
  }
}

Api look_up(const cuda_like::VendorLibrary& library) {
  Api functions;
#define X(name) find(&functions.name, library, #name);
#include "level_zero/symbols.inc"
#undef X
  return functions;
}

bool is_at_least(const zel_version_t& version, const zel_version_t& first) {
  return std::tie(version.major, version.minor, version.patch) >= std::tie(first.major, first.minor, first.patch);
}

// Returns the version 0.0.0 if the loader does not report one.
zel_version_t version_of(const cuda_like::VendorLibrary& library) {
  const auto get = reinterpret_cast<decltype(&zelLoaderGetVersions)>(library.find("zelLoaderGetVersions"));
  size_t count = 0;
  if (get == nullptr || get(&count, nullptr) != ZE_RESULT_SUCCESS) return {};
  std::vector<zel_component_version_t> components(count);
  if (count == 0 || get(&count, components.data()) != ZE_RESULT_SUCCESS) return {};
  const auto loader = std::ranges::find_if(
      components, [](const auto& component) { return std::string_view(component.component_name) == "loader"; });
  return loader != components.end() ? loader->component_lib_version : zel_version_t{};
}

// Returns advice for the user if the drivers do not start.
const char* advice() {
  return ::access(kGpuNodes, F_OK) != 0
             ? "libze_loader.so.1 is there, but the kernel shows no GPU: there is no /dev/dri"
             : "libze_loader.so.1 is there, but no driver starts: install the GPU's (Debian: intel-level-zero-gpu or "
               "libze-intel-gpu1), and see that /dev/dri/renderD* may be opened and ZE_AFFINITY_MASK hides no GPU";
}

// Starts the drivers for GPUs only, as the SYCL runtime does. Other devices of the loader do not compute on Arrow
// arrays.
void start(const Api& functions) {
  const ze_result_t result = functions.zeInit(ZE_INIT_FLAG_GPU_ONLY);
  if (result != ZE_RESULT_SUCCESS) {
    throw Error(ENODEV, failure("zeInit", result, advice()).message(), {}, static_cast<int>(result));
  }
}

const Api* load() {
  const cuda_like::VendorLibrary library(kNames);
  Api functions = look_up(library);
  start(functions);
  // The SYCL runtime calls zeInitDrivers from this version of the loader on. A loader tells its version after zeInit.
  if (is_at_least(version_of(library), {1, 19, 2})) {
    functions.zeInitDrivers = reinterpret_cast<InitDrivers*>(library.find("zeInitDrivers"));
  }
  return new Api(functions);
}

}  // namespace

Error failure(const char* call, ze_result_t result, const std::string& detail) {
  return {errno_of(call, result),
          format("%s: %s (0x%x)%s", call, name_of(result), static_cast<unsigned>(result),
                 detail.empty() ? "" : (": " + detail).c_str()),
          {},
          static_cast<int>(result)};
}

bool is_fatal(int native_code) noexcept {
  return native_code == ZE_RESULT_ERROR_DEVICE_LOST || native_code == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET;
}

const Api& open_api() {
  if (const auto* functions = opened.load(std::memory_order_acquire)) return *functions;
  const std::lock_guard lock(opening);
  if (const auto* functions = opened.load(std::memory_order_relaxed)) return *functions;
  if (refusal) throw Error(*refusal);
  try {
    opened.store(load(), std::memory_order_release);
  } catch (const Error& e) {
    refusal = e;
    throw;
  }
  return *opened.load(std::memory_order_relaxed);
}

const Api& api() noexcept {
  const auto* const functions = opened.load(std::memory_order_acquire);
  assert(functions != nullptr);
  return *functions;
}

}  // namespace arrowdevice::level_zero
