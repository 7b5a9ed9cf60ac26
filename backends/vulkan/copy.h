// SPDX-License-Identifier: Apache-2.0
// A batch of copies on its way to a queue.
#pragma once

#include <arrowdevice/backend.h>

#include <span>

#include "vulkan/device.h"

namespace arrowdevice::vulkan {

// Enqueues all regions: written by the CPU at once where the memory is mapped and nothing comes before, else as one
// command buffer. Blocks only where staging memory runs out, and where the CPU must read what is still being written.
void copy(Device& device, SubmissionQueue& lane, std::span<const arrowdevice_backend_region> regions);

}  // namespace arrowdevice::vulkan
