// SPDX-License-Identifier: Apache-2.0
#include "drivers/vulkan/discrete.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace discrete {
namespace {

constexpr uint32_t kMain = 0;
constexpr uint32_t kTransfer = 1;
constexpr uint32_t kDeviceMemory = 0;
constexpr uint32_t kHostMemory = 1;
constexpr int kFreshByte = 0xA5;
constexpr VkDeviceSize kFreshSize = 64 * 1024;

[[noreturn]] void refuse(const char* what) {
  std::fprintf(stderr, "the disguised device says: %s\n", what);
  std::abort();
}

bool is_on() {
  const char* const value = std::getenv("ARROWDEVICE_TEST_VULKAN_DISGUISE");
  return value != nullptr && std::strcmp(value, "discrete") == 0;
}

struct State {
  std::mutex mutex;
  std::set<VkCommandPool> transfer_pools;
  std::set<VkCommandBuffer> transfer_commands;
  std::set<VkDeviceMemory> device_memory;
  std::map<VkQueue, std::unique_ptr<char>> transfer_queues;  // handles, by the queues behind them
  std::mutex submitting;                                     // both families share the only queue
} state;

#define DISGUISED(X)                          \
  X(vkGetPhysicalDeviceProperties)            \
  X(vkGetPhysicalDeviceQueueFamilyProperties) \
  X(vkGetPhysicalDeviceMemoryProperties2)     \
  X(vkCreateDevice)                           \
  X(vkGetDeviceQueue)                         \
  X(vkCreateCommandPool)                      \
  X(vkAllocateCommandBuffers)                 \
  X(vkCreateBuffer)                           \
  X(vkGetBufferMemoryRequirements)            \
  X(vkGetMemoryHostPointerPropertiesEXT)      \
  X(vkAllocateMemory)                         \
  X(vkFreeMemory)                             \
  X(vkMapMemory)                              \
  X(vkCmdSetEvent)                            \
  X(vkQueueSubmit)

struct Real {
#define X(name) PFN_##name name = nullptr;
  DISGUISED(X)
#undef X
} real;

void vkGetPhysicalDeviceProperties(VkPhysicalDevice device, VkPhysicalDeviceProperties* out) {
  real.vkGetPhysicalDeviceProperties(device, out);
  out->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

void vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice device, uint32_t* n, VkQueueFamilyProperties* out) {
  if (out == nullptr) {
    *n = 2;
    return;
  }
  uint32_t one = 1;
  real.vkGetPhysicalDeviceQueueFamilyProperties(device, &one, &out[kMain]);
  if (*n < 2) return;
  out[kTransfer] = out[kMain];
  out[kTransfer].queueFlags = VK_QUEUE_TRANSFER_BIT;
  *n = 2;
}

void vkGetPhysicalDeviceMemoryProperties2(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2* out) {
  real.vkGetPhysicalDeviceMemoryProperties2(device, out);
  auto& memory = out->memoryProperties;
  memory.memoryTypeCount = 2;
  memory.memoryTypes[kDeviceMemory] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
  memory.memoryTypes[kHostMemory] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0};
}

VkResult vkCreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* asked,
                        const VkAllocationCallbacks* callbacks, VkDevice* out) {
  VkDeviceCreateInfo info = *asked;
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (uint32_t i = 0; i < info.queueCreateInfoCount; ++i) {
    if (info.pQueueCreateInfos[i].queueFamilyIndex == kMain) queues.push_back(info.pQueueCreateInfos[i]);
  }
  info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  return real.vkCreateDevice(physical, &info, callbacks, out);
}

// The queue for transfers has a handle of its own, behind which is the main queue.
void vkGetDeviceQueue(VkDevice device, uint32_t family, uint32_t index, VkQueue* out) {
  real.vkGetDeviceQueue(device, kMain, index, out);
  if (family != kTransfer) return;
  const std::lock_guard lock(state.mutex);
  auto& handle = state.transfer_queues[*out];
  if (handle == nullptr) handle = std::make_unique<char>();
  *out = reinterpret_cast<VkQueue>(handle.get());
}

VkResult vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo* asked,
                             const VkAllocationCallbacks* callbacks, VkCommandPool* out) {
  VkCommandPoolCreateInfo info = *asked;
  info.queueFamilyIndex = kMain;
  const VkResult result = real.vkCreateCommandPool(device, &info, callbacks, out);
  const std::lock_guard lock(state.mutex);
  if (result == VK_SUCCESS && asked->queueFamilyIndex == kTransfer) state.transfer_pools.insert(*out);
  if (result == VK_SUCCESS && asked->queueFamilyIndex != kTransfer) state.transfer_pools.erase(*out);
  return result;
}

VkResult vkAllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo* info, VkCommandBuffer* out) {
  const VkResult result = real.vkAllocateCommandBuffers(device, info, out);
  if (result != VK_SUCCESS) return result;
  const std::lock_guard lock(state.mutex);
  for (uint32_t i = 0; i < info->commandBufferCount; ++i) {
    if (state.transfer_pools.contains(info->commandPool)) {
      state.transfer_commands.insert(out[i]);
    } else {
      state.transfer_commands.erase(out[i]);
    }
  }
  return result;
}

VkResult vkCreateBuffer(VkDevice device, const VkBufferCreateInfo* asked, const VkAllocationCallbacks* callbacks,
                        VkBuffer* out) {
  VkBufferCreateInfo info = *asked;
  // A buffer that both families use must be shared. Otherwise it would need ownership transfers.
  if (info.sharingMode == VK_SHARING_MODE_CONCURRENT) {
    if (info.queueFamilyIndexCount != 2) refuse("a buffer is shared among other families than were opened");
    info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    info.queueFamilyIndexCount = 0;
  } else {
    refuse("a buffer is not shared among the families");
  }
  return real.vkCreateBuffer(device, &info, callbacks, out);
}

void vkGetBufferMemoryRequirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements* out) {
  real.vkGetBufferMemoryRequirements(device, buffer, out);
  out->memoryTypeBits = 1u << kDeviceMemory | 1u << kHostMemory;
}

VkResult vkGetMemoryHostPointerPropertiesEXT(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                                             const void* pointer, VkMemoryHostPointerPropertiesEXT* out) {
  const VkResult result = real.vkGetMemoryHostPointerPropertiesEXT(device, type, pointer, out);
  out->memoryTypeBits = 1u << kHostMemory;
  return result;
}

bool is_import(const VkMemoryAllocateInfo& info) {
  for (const auto* next = static_cast<const VkBaseInStructure*>(info.pNext); next != nullptr; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR) return true;
    if (next->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT) return true;
  }
  return false;
}

// Writes bytes that are not zero to the start of new memory. The memory stays mapped, because no other call maps
// device-local memory.
void fill(VkDevice device, VkDeviceMemory memory, VkDeviceSize size) {
  void* bytes = nullptr;
  if (real.vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &bytes) != VK_SUCCESS) refuse("memory cannot be mapped");
  std::memset(bytes, kFreshByte, static_cast<size_t>(std::min(size, kFreshSize)));
}

VkResult vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo* asked, const VkAllocationCallbacks* callbacks,
                          VkDeviceMemory* out) {
  VkMemoryAllocateInfo info = *asked;
  info.memoryTypeIndex = 0;
  const VkResult result = real.vkAllocateMemory(device, &info, callbacks, out);
  if (result != VK_SUCCESS || asked->memoryTypeIndex != kDeviceMemory) return result;
  if (!is_import(*asked)) fill(device, *out, asked->allocationSize);
  const std::lock_guard lock(state.mutex);
  state.device_memory.insert(*out);
  return result;
}

void vkFreeMemory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks* callbacks) {
  {
    const std::lock_guard lock(state.mutex);
    state.device_memory.erase(memory);
  }
  real.vkFreeMemory(device, memory, callbacks);
}

VkResult vkMapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                     VkMemoryMapFlags flags, void** out) {
  {
    const std::lock_guard lock(state.mutex);
    if (state.device_memory.contains(memory)) refuse("device-local memory is mapped");
  }
  return real.vkMapMemory(device, memory, offset, size, flags, out);
}

void vkCmdSetEvent(VkCommandBuffer commands, VkEvent event, VkPipelineStageFlags stages) {
  {
    const std::lock_guard lock(state.mutex);
    if (state.transfer_commands.contains(commands)) refuse("an event is set on a family for transfers only");
  }
  real.vkCmdSetEvent(commands, event, stages);
}

VkResult vkQueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo* submits, VkFence fence) {
  {
    const std::lock_guard lock(state.mutex);
    for (const auto& [real_queue, handle] : state.transfer_queues) {
      if (reinterpret_cast<VkQueue>(handle.get()) == queue) queue = real_queue;
    }
  }
  const std::lock_guard lock(state.submitting);
  return real.vkQueueSubmit(queue, n, submits, fence);
}

}  // namespace

PFN_vkVoidFunction disguise(const char* name, PFN_vkVoidFunction function) {
  if (!is_on()) return function;
#define X(symbol)                                                   \
  if (std::strcmp(name, #symbol) == 0) {                            \
    real.symbol = reinterpret_cast<PFN_##symbol>(function);         \
    return reinterpret_cast<PFN_vkVoidFunction>(&discrete::symbol); \
  }
  DISGUISED(X)
#undef X
  return function;
}

}  // namespace discrete
