// SPDX-License-Identifier: Apache-2.0
// Finds the allocation of an address in a context.
#pragma once

#include <cstddef>
#include <optional>

#include "level_zero/vendor.h"

namespace arrowdevice::level_zero {

struct Allocation {
  ze_memory_type_t type;
  ze_device_handle_t device;  // NULL for host memory
  void* base;
  size_t size;

  // Returns true if `size_of_part` bytes at `address` lie within the allocation.
  bool has(const void* address, size_t size_of_part) const noexcept;
};

// Returns nullopt for memory of another context and for memory that the driver did not allocate.
std::optional<Allocation> find_allocation(ze_context_handle_t context, const void* address);

}  // namespace arrowdevice::level_zero
