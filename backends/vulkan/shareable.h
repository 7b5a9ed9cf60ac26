// SPDX-License-Identifier: Apache-2.0
// Memory that other processes can open.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>

#include "vulkan/setup.h"

namespace arrowdevice::vulkan {

class Device;

// The form of such memory.
enum class Sharing {
  kNone,
  kHostMemory,   // host memory that the device uses in place
  kDescriptors,  // device memory that leaves the process as an opaque descriptor
};

Sharing choose_sharing(const Setup& setup);

// Allocates memory of zeros. Throws ENOTSUP if the device has no such memory.
VkBuffer allocate_shareable(Device& device, VkDeviceSize size);

void describe_shareable(Device& device, VkBuffer buffer, arrowdevice_memory_record& out);

// Opens memory of another process, which Device::deallocate() closes. If it is host memory, the other process does not
// see what this one writes.
VkBuffer open_shared(Device& device, const arrowdevice_memory_record& record, int64_t& size);

}  // namespace arrowdevice::vulkan
