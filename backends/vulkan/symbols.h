// SPDX-License-Identifier: Apache-2.0
// Every function of Vulkan that the backend calls, once. What these lists name is declared in functions.h, looked up in
// functions.cc, and can be made to fail by the layer in tests/drivers/vulkan.
#pragma once

// Of no instance.
#define ARROWDEVICE_VULKAN_GLOBAL_FUNCTIONS(X) \
  X(vkEnumerateInstanceVersion)                \
  X(vkCreateInstance)

// Of an instance.
#define ARROWDEVICE_VULKAN_INSTANCE_FUNCTIONS(X) \
  X(vkDestroyInstance)                           \
  X(vkEnumeratePhysicalDevices)                  \
  X(vkGetPhysicalDeviceProperties)               \
  X(vkGetPhysicalDeviceProperties2)              \
  X(vkGetPhysicalDeviceFeatures2)                \
  X(vkGetPhysicalDeviceMemoryProperties2)        \
  X(vkGetPhysicalDeviceQueueFamilyProperties)    \
  X(vkEnumerateDeviceExtensionProperties)        \
  X(vkCreateDevice)                              \
  X(vkGetDeviceProcAddr)

// Of a device.
#define ARROWDEVICE_VULKAN_DEVICE_FUNCTIONS(X) \
  X(vkDestroyDevice)                           \
  X(vkGetDeviceQueue)                          \
  X(vkAllocateMemory)                          \
  X(vkFreeMemory)                              \
  X(vkMapMemory)                               \
  X(vkFlushMappedMemoryRanges)                 \
  X(vkInvalidateMappedMemoryRanges)            \
  X(vkCreateBuffer)                            \
  X(vkDestroyBuffer)                           \
  X(vkGetBufferMemoryRequirements)             \
  X(vkBindBufferMemory)                        \
  X(vkCreateCommandPool)                       \
  X(vkDestroyCommandPool)                      \
  X(vkAllocateCommandBuffers)                  \
  X(vkFreeCommandBuffers)                      \
  X(vkBeginCommandBuffer)                      \
  X(vkEndCommandBuffer)                        \
  X(vkCmdPipelineBarrier)                      \
  X(vkCmdCopyBuffer)                           \
  X(vkCmdSetEvent)                             \
  X(vkQueueSubmit)                             \
  X(vkCreateFence)                             \
  X(vkDestroyFence)                            \
  X(vkGetFenceStatus)                          \
  X(vkWaitForFences)                           \
  X(vkCreateSemaphore)                         \
  X(vkDestroySemaphore)                        \
  X(vkCreateEvent)                             \
  X(vkDestroyEvent)                            \
  X(vkGetEventStatus)

// Of a device, where it has them: in Vulkan itself or with the suffix of an extension.
#define ARROWDEVICE_VULKAN_OPTIONAL_FUNCTIONS(X) \
  X(vkGetSemaphoreCounterValue, "KHR")           \
  X(vkWaitSemaphores, "KHR")                     \
  X(vkGetMemoryHostPointerPropertiesEXT, "")
