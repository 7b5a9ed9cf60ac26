// SPDX-License-Identifier: Apache-2.0
// Access to the layer that this program's Vulkan backend uses.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "drivers/vulkan/driver.h"

namespace vulkan_test {

inline void* driver_library() {
  const char* const path = std::getenv("ARROWDEVICE_VULKAN_LIBRARY");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw std::runtime_error("ARROWDEVICE_VULKAN_LIBRARY names no library: run this by meson test");
  return library;
}

inline const VulkanDriverControl& driver() {
  static const VulkanDriverControl* const control = [] {
    const auto get = reinterpret_cast<VulkanDriverControlFunction>(dlsym(driver_library(), "vulkan_driver_control"));
    if (get == nullptr) throw std::runtime_error("ARROWDEVICE_VULKAN_LIBRARY is not the layer of the tests");
    return get();
  }();
  return *control;
}

}  // namespace vulkan_test
