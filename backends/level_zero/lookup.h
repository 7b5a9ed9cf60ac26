// SPDX-License-Identifier: Apache-2.0
// What a context knows of an address.
#pragma once

#include <cstddef>
#include <optional>

#include "level_zero/vendor.h"

namespace arrowdevice::level_zero {

struct Allocation {
  ze_memory_type_t type;
  ze_device_handle_t device;  // NULL for memory of the host
  void* base;
  size_t size;

  // Whether `size_of_part` bytes at an address are within it.
  bool has(const void* address, size_t size_of_part) const noexcept;
};

// Nothing for memory of another context, and for memory that the driver did not give out.
std::optional<Allocation> find_allocation(ze_context_handle_t context, const void* address);

}  // namespace arrowdevice::level_zero
