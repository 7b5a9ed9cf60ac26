// SPDX-License-Identifier: Apache-2.0
#include "vulkan/queue_families.h"

namespace arrowdevice::vulkan {
namespace {

constexpr VkQueueFlags kMoreThanTransfers = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT |
                                            VK_QUEUE_VIDEO_DECODE_BIT_KHR | VkQueueFlags{0x40} /* video encode */ |
                                            VkQueueFlags{0x100} /* optical flow */;

template <typename Wanted>
std::optional<uint32_t> find(const std::vector<VkQueueFamilyProperties>& families, Wanted wanted) {
  for (uint32_t i = 0; i < families.size(); ++i) {
    if (families[i].queueCount > 0 && wanted(families[i])) return i;
  }
  return std::nullopt;
}

}  // namespace

bool sets_events(const VkQueueFamilyProperties& family) {
  return (family.queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)) != 0;
}

std::optional<uint32_t> main_family(const std::vector<VkQueueFamilyProperties>& families) {
  const auto computes_only = find(families, [](const auto& family) {
    return sets_events(family) && (family.queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0;
  });
  return computes_only ? computes_only : find(families, sets_events);
}

std::optional<uint32_t> transfer_family(const std::vector<VkQueueFamilyProperties>& families) {
  return find(families, [](const auto& family) {
    return (family.queueFlags & VK_QUEUE_TRANSFER_BIT) != 0 && (family.queueFlags & kMoreThanTransfers) == 0;
  });
}

}  // namespace arrowdevice::vulkan
