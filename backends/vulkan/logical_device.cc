// SPDX-License-Identifier: Apache-2.0
#include "vulkan/logical_device.h"

#include <cerrno>

#include "base/error.h"
#include "base/text.h"
#include "vulkan/functions.h"

namespace arrowdevice::vulkan {
LogicalDevice::LogicalDevice(VkDevice handle, PFN_vkGetDeviceProcAddr get, std::string name, bool owned)
    : handle_(handle), owned_(owned), name_(std::move(name)) {
  try {
    vk_ = device_functions(get, handle);
  } catch (...) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDevice>(get(handle, "vkDestroyDevice"));
    if (owned && destroy != nullptr) destroy(handle, nullptr);
    throw;
  }
}

LogicalDevice::~LogicalDevice() {
  if (owned_) vk_.vkDestroyDevice(handle_, nullptr);
}

void LogicalDevice::check(const char* call, VkResult result, const std::string& detail) const {
  if (result == VK_ERROR_DEVICE_LOST) lost_.store(true, std::memory_order_release);
  vulkan::check(call, result, detail.empty() ? name_ : detail + " on " + name_);
}

void LogicalDevice::check_not_lost() const {
  if (is_lost()) throw Error(EIO, name_ + " is lost: VK_ERROR_DEVICE_LOST", {}, VK_ERROR_DEVICE_LOST);
}

UniqueMemory make_memory(const LogicalDevice& device, const VkMemoryAllocateInfo& info) {
  VkDeviceMemory made = VK_NULL_HANDLE;
  const VkResult result = device->vkAllocateMemory(device.handle(), &info, nullptr, &made);
  // The text is built only if the call fails, because buffers are created by the thousand.
  if (result < 0) device.check("vkAllocateMemory", result, bytes_text(info.allocationSize));
  return {device, made};
}

UniqueBuffer make_buffer(const LogicalDevice& device, const VkBufferCreateInfo& info) {
  VkBuffer made = VK_NULL_HANDLE;
  const VkResult result = device->vkCreateBuffer(device.handle(), &info, nullptr, &made);
  if (result < 0) device.check("vkCreateBuffer", result, bytes_text(info.size));
  return {device, made};
}

namespace {

// Makes an object with a vkCreate* function.
template <typename Owner, typename Info, typename Handle>
Owner make(const LogicalDevice& device, const char* name,
           VkResult(VKAPI_PTR* create)(VkDevice, const Info*, const VkAllocationCallbacks*, Handle*),
           const Info& info) {
  Handle made = VK_NULL_HANDLE;
  device.check(name, create(device.handle(), &info, nullptr, &made));
  return {device, made};
}

}  // namespace

UniqueCommandPool make_command_pool(const LogicalDevice& device, uint32_t family) {
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT | VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  info.queueFamilyIndex = family;
  return make<UniqueCommandPool>(device, "vkCreateCommandPool", device->vkCreateCommandPool, info);
}

UniqueFence make_fence(const LogicalDevice& device) {
  VkFenceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  return make<UniqueFence>(device, "vkCreateFence", device->vkCreateFence, info);
}

UniqueSemaphore make_semaphore(const LogicalDevice& device) {
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  return make<UniqueSemaphore>(device, "vkCreateSemaphore", device->vkCreateSemaphore, info);
}

UniqueSemaphore make_timeline(const LogicalDevice& device) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  return make<UniqueSemaphore>(device, "vkCreateSemaphore", device->vkCreateSemaphore, info);
}

UniqueEvent make_event(const LogicalDevice& device) {
  VkEventCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO;
  return make<UniqueEvent>(device, "vkCreateEvent", device->vkCreateEvent, info);
}

VkMemoryRequirements requirements_of(const LogicalDevice& device, VkBuffer buffer) {
  VkMemoryRequirements requirements{};
  device->vkGetBufferMemoryRequirements(device.handle(), buffer, &requirements);
  return requirements;
}

}  // namespace arrowdevice::vulkan
