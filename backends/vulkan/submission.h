// SPDX-License-Identifier: Apache-2.0
// A submission to a queue: its commands, and the objects that must live until they are done.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vulkan/host_writes.h"
#include "vulkan/staging.h"
#include "vulkan/unique.h"

namespace arrowdevice::vulkan {

// Bytes that the CPU copies from staging memory when the commands are done.
struct Download {
  const Memory* from;
  VkDeviceSize offset;
  void* to;
  VkDeviceSize size;
};

struct Submission {
  uint64_t number = 0;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  std::shared_ptr<UniqueFence> fence;  // set if there are no timeline semaphores
  std::vector<Staging::Block> blocks;
  std::vector<Download> downloads;
  std::vector<std::shared_ptr<const void>> kept;  // semaphores, events, host pages
  std::vector<HostWrite> host_writes;             // host memory that the submission changes, including downloads
};

}  // namespace arrowdevice::vulkan
