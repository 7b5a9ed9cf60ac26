// SPDX-License-Identifier: Apache-2.0
// The test layer between the Vulkan backend and the Vulkan loader. ARROWDEVICE_VULKAN_LIBRARY names this
// library. It forwards every call to the real loader, counts it, and makes the calls fail that a test
// chooses. With ARROWDEVICE_TEST_VULKAN_VALIDATION=1, every instance runs under the Khronos validation
// layer with synchronization validation. The first validation message ends the program.
#pragma once

#include <cstdint>

// Control functions that the library exports beside vkGetInstanceProcAddr. Get them by dlsym from the path
// in ARROWDEVICE_VULKAN_LIBRARY.
struct VulkanDriverControl {
  // Makes the n-th call from now of the named function return `result` and do nothing else. NULL clears the
  // failure.
  void (*fail)(const char* function, int64_t nth, int32_t result);
  // Loses the device. From that call on, all calls that can fail return VK_ERROR_DEVICE_LOST.
  void (*lose)(const char* function, int64_t nth);
  // Returns the number of calls of a function so far, or -1 if the backend does not use it.
  int64_t (*calls)(const char* function);
  // Returns the names of the functions that can fail. The list ends with NULL.
  const char* const* (*fallible)();
  // Returns the number of device objects that were created and not destroyed.
  int64_t (*live)();
  // Calls `act(user)` once, right before the next call of that function and on its thread. `act` does
  // something that another thread may do at that moment.
  void (*before_next)(const char* function, void (*act)(void* user), void* user);
};

// The type of the symbol "vulkan_driver_control".
using VulkanDriverControlFunction = const VulkanDriverControl* (*)();
