// SPDX-License-Identifier: Apache-2.0
// Handles of the stand-in, and declarations that are newer than the oldest Level Zero headers it builds
// with.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace standin::level_zero {

// Returns the version that the driver reports. Version 1.10 added zeInitDrivers, 1.13 added handles with entry points,
// and 1.14 added the flag for the offload of copies.
uint32_t api_version();
inline constexpr uint32_t kFirstWithInOrder = ZE_MAKE_VERSION(1, 7);
inline constexpr uint32_t kFirstWithInitDrivers = ZE_MAKE_VERSION(1, 10);
inline constexpr uint32_t kFirstWithTablesInHandles = ZE_MAKE_VERSION(1, 13);
inline constexpr uint32_t kFirstWithOffloadFlag = ZE_MAKE_VERSION(1, 14);

// Returns the driver's build, and the first builds of Intel's driver with these abilities: in-order lists (23.30), the
// extension for counter-based events (23.48), and the extension for the offload of copies (24.26).
uint32_t driver_build();
inline constexpr uint32_t kFirstBuildWithInOrder = 26918;
inline constexpr uint32_t kFirstBuildWithCounters = 27912;
inline constexpr uint32_t kFirstBuildWithOffload = 30049;

// Returns a new handle that is never reused. A driver with tables in its handles returns the address of a
// ze_handle_t, as Intel's driver does. A loader calls the entry points in that table. Other handles cannot
// be read.
void* new_object_handle();

// ze_init_driver_type_desc_t of 1.10
struct InitDriverTypeDesc {
  ze_structure_type_t stype;
  const void* next;
  uint32_t flags;
};
inline constexpr auto kInitDriverTypeDesc = static_cast<ze_structure_type_t>(0x00020021);
inline constexpr uint32_t kInitGpu = ZE_BIT(0);

// zeInitDrivers of 1.10
ze_result_t init_drivers(uint32_t* count, ze_driver_handle_t* drivers, InitDriverTypeDesc* description);

// The flags of ze_command_queue_desc_t of 1.7 and 1.14
inline constexpr uint32_t kInOrder = ZE_BIT(1);
inline constexpr uint32_t kOffloadHint = ZE_BIT(2);

// zex_intel_queue_copy_operations_offload_hint_exp_desc_t of Intel's extensions
struct OffloadHintDesc {
  ze_structure_type_t stype;
  const void* next;
  ze_bool_t is_enabled;
};
inline constexpr auto kOffloadHintDesc = static_cast<ze_structure_type_t>(0x0003001b);
inline constexpr const char* kOffloadExtension = "ZEX_intel_experimental_queue_copy_operations_offload_hint";
inline constexpr const char* kCounterExtension = "ZE_experimental_event_pool_counter_based";

// ze_driver_ddi_handles_ext_properties_t of 1.13
struct DdiHandlesProperties {
  ze_structure_type_t stype;
  void* next;
  uint32_t flags;
};
inline constexpr auto kDdiHandlesProperties = static_cast<ze_structure_type_t>(0x00020027);
inline constexpr uint32_t kDdiHandlesSupported = ZE_BIT(0);
inline constexpr const char* kDdiHandlesExtension = "ZE_extension_driver_ddi_handles";

}  // namespace standin::level_zero
