// SPDX-License-Identifier: Apache-2.0
// Handles of the stand-in, and the parts of Level Zero that came after the oldest headers it is built with.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace standin::level_zero {

// The version that the driver reports. zeInitDrivers came with 1.10, handles that carry entry points with 1.13.
uint32_t api_version();
inline constexpr uint32_t kFirstWithInOrder = ZE_MAKE_VERSION(1, 7);
inline constexpr uint32_t kFirstWithInitDrivers = ZE_MAKE_VERSION(1, 10);
inline constexpr uint32_t kFirstWithTablesInHandles = ZE_MAKE_VERSION(1, 13);

// A handle that is never given out twice. A driver with tables in its handles returns the address of a ze_handle_t, as
// Intel's does: a loader calls the entry points that it finds there. Otherwise the handle cannot be read.
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
