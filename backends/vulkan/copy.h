// SPDX-License-Identifier: Apache-2.0
// Enqueues a batch of copies.
#pragma once

#include <arrowdevice/backend.h>

#include <span>

#include "vulkan/device.h"

namespace arrowdevice::vulkan {

// Enqueues all regions. The CPU writes them at once if the memory is mapped and no earlier work is pending. Otherwise
// they become one or more command buffers. Blocks only if staging memory runs out, or if the CPU must read memory that
// is still being written.
void copy(Device& device, SubmissionQueue& lane, std::span<const arrowdevice_backend_region> regions);

}  // namespace arrowdevice::vulkan
