// SPDX-License-Identifier: Apache-2.0
#include "level_zero/api.h"

#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "cuda_like/vendor_library.h"
#include "level_zero/codes.h"

namespace arrowdevice::level_zero {
namespace {

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
  const Api functions = look_up(library);
  start(functions);
  return new Api(functions);
}

}  // namespace

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
