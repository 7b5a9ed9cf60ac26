// SPDX-License-Identifier: Apache-2.0
#include "level_zero/lookup.h"

#include <cstdint>

#include "level_zero/api.h"
#include "level_zero/codes.h"

namespace arrowdevice::level_zero {

bool Allocation::has(const void* address, size_t size_of_part) const noexcept {
  const auto start = reinterpret_cast<uintptr_t>(base);
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= start && at - start <= size && size_of_part <= size - (at - start);
}

std::optional<Allocation> find_allocation(ze_context_handle_t context, const void* address) {
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  ze_device_handle_t device = nullptr;
  check("zeMemGetAllocProperties", api().zeMemGetAllocProperties(context, address, &properties, &device));
  if (properties.type == ZE_MEMORY_TYPE_UNKNOWN) return std::nullopt;
  Allocation found{.type = properties.type, .device = device, .base = nullptr, .size = 0};
  check("zeMemGetAddressRange", api().zeMemGetAddressRange(context, address, &found.base, &found.size));
  return found;
}

}  // namespace arrowdevice::level_zero
