// SPDX-License-Identifier: Apache-2.0
// The Level Zero loader, opened at first use and never closed, and errors from its result codes.
#pragma once

#include <level_zero/loader/ze_loader.h>
#include <level_zero/ze_api.h>

#include <string>

#include "base/error.h"

namespace arrowdevice::level_zero {

// Flags of immediate lists, which older headers lack: commands run in order, and copies may run on other engines.
inline constexpr ze_command_queue_flags_t kInOrderFlag = ZE_BIT(1);
inline constexpr ze_command_queue_flags_t kOffloadCopiesFlag = ZE_BIT(2);

// The struct of Intel's drivers that means the same as kOffloadCopiesFlag.
struct OffloadCopiesDesc {
  ze_structure_type_t stype;
  const void* next;
  ze_bool_t is_enabled;
};
inline constexpr auto kOffloadCopiesDesc = static_cast<ze_structure_type_t>(0x0003001b);

// zeInitDrivers and its struct, which older headers lack.
struct InitDriverTypeDesc {
  ze_structure_type_t stype;
  const void* next;
  uint32_t flags;
};
inline constexpr auto kInitDriverTypeDesc = static_cast<ze_structure_type_t>(0x00020021);
inline constexpr uint32_t kInitGpuDrivers = ZE_BIT(0);
using InitDrivers = ze_result_t(uint32_t* count, ze_driver_handle_t* drivers, InitDriverTypeDesc* description);

// The loader's functions under their own names: api().zeMemFree(context, memory).
struct Api {
  InitDrivers* zeInitDrivers = nullptr;  // NULL if the loader lacks it, or if the SYCL runtime does not use it either
#define X(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#include "level_zero/symbols.inc"
#undef X
};

// Opens libze_loader.so.1 and starts the drivers. Throws ENODEV with the reason if this fails, and throws the same
// error on later calls.
const Api& open_api();

// Returns the functions. The caller has a handle, so open_api() has succeeded before.
const Api& api() noexcept;

// Returns an error such as "zeMemAllocDevice: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003): 64 bytes".
Error failure(const char* call, ze_result_t result, const std::string& detail = {});

// Throws unless `result` is success.
inline void check(const char* call, ze_result_t result) {
  if (result != ZE_RESULT_SUCCESS) throw failure(call, result);
}

// Returns true if a device is lost for this process after an error with this code.
bool is_fatal(int native_code) noexcept;

}  // namespace arrowdevice::level_zero
