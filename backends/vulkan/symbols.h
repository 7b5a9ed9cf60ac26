// SPDX-License-Identifier: Apache-2.0
// Every Vulkan function that the backend calls. functions.h declares these functions, and functions.cc loads them. The
// layer in tests/drivers/vulkan can make each of them fail.
#pragma once

// Global functions.
#define ARROWDEVICE_VULKAN_GLOBAL_FUNCTIONS(X) \
  X(vkEnumerateInstanceVersion)                \
  X(vkCreateInstance)

// Instance functions.
#define ARROWDEVICE_VULKAN_INSTANCE_FUNCTIONS(X) \
  X(vkDestroyInstance)                           \
  X(vkEnumeratePhysicalDevices)                  \
  X(vkGetPhysicalDeviceProperties)               \
  X(vkGetPhysicalDeviceProperties2)              \
  X(vkGetPhysicalDeviceFeatures2)                \
  X(vkGetPhysicalDeviceMemoryProperties2)        \
  X(vkGetPhysicalDeviceQueueFamilyProperties)    \
  X(vkGetPhysicalDeviceExternalBufferProperties) \
  X(vkEnumerateDeviceExtensionProperties)        \
  X(vkCreateDevice)                              \
  X(vkGetDeviceProcAddr)

// Device functions.
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
  X(vkResetFences)                             \
  X(vkGetFenceStatus)                          \
  X(vkWaitForFences)                           \
  X(vkCreateSemaphore)                         \
  X(vkDestroySemaphore)                        \
  X(vkCreateEvent)                             \
  X(vkDestroyEvent)                            \
  X(vkGetEventStatus)

// Optional device functions. They are part of Vulkan or have the suffix of an extension.
#define ARROWDEVICE_VULKAN_OPTIONAL_FUNCTIONS(X) \
  X(vkGetSemaphoreCounterValue, "KHR")           \
  X(vkWaitSemaphores, "KHR")                     \
  X(vkGetMemoryHostPointerPropertiesEXT, "")     \
  X(vkGetMemoryFdKHR, "")
