// SPDX-License-Identifier: Apache-2.0
// Handles of the stand-in, and declarations that are newer than the oldest Level Zero headers it builds
// with.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace standin::level_zero {

// Returns the version that the driver reports. Version 1.10 added zeInitDrivers, and 1.13 added handles
// with entry points.
uint32_t api_version();
inline constexpr uint32_t kFirstWithInOrder = ZE_MAKE_VERSION(1, 7);
inline constexpr uint32_t kFirstWithInitDrivers = ZE_MAKE_VERSION(1, 10);
inline constexpr uint32_t kFirstWithTablesInHandles = ZE_MAKE_VERSION(1, 13);

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
