// SPDX-License-Identifier: Apache-2.0
// The layer between the Vulkan backend and the Vulkan loader, for tests: a library that is named by
// ARROWDEVICE_VULKAN_LIBRARY, forwards every call to the real loader, counts it, and makes those fail that a test
// chooses. With ARROWDEVICE_TEST_VULKAN_VALIDATION=1 every instance made through it runs under the Khronos validation
// layer with synchronisation validation, and the first message of that ends the program.
#pragma once

#include <cstdint>

// What the library exports beside vkGetInstanceProcAddr; get them by dlsym from the path in ARROWDEVICE_VULKAN_LIBRARY.
struct VulkanDriverControl {
  // The n-th call from now of that function, by name, returns `result` and does nothing else. NULL: none fails.
  void (*fail)(const char* function, int64_t nth, int32_t result);
  // From that call on all that can fail return VK_ERROR_DEVICE_LOST, as those of a lost device do.
  void (*lose)(const char* function, int64_t nth);
  // Calls of a function so far; -1 if the backend uses no such function.
  int64_t (*calls)(const char* function);
  // The names of the functions that can fail, ending with NULL.
  const char* const* (*fallible)();
  // Objects of devices that were made and not destroyed.
  int64_t (*live)();
  // Calls `act(user)` once, right before the next call of that function and on its thread: what another thread may do
  // in that very moment.
  void (*before_next)(const char* function, void (*act)(void* user), void* user);
};

// The type of "vulkan_driver_control", the symbol to look for.
using VulkanDriverControlFunction = const VulkanDriverControl* (*)();
