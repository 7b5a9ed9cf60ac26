// SPDX-License-Identifier: Apache-2.0
// Access to the layer that this program's Vulkan backend uses, and to the way in which the test runs.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

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

// Counts the calls of a function while `body` runs.
template <typename Body>
int64_t calls(const char* function, Body&& body) {
  const int64_t before = driver().calls(function);
  body();
  return driver().calls(function) - before;
}

inline bool variable_has(const char* variable, const char* word) {
  const char* const words = std::getenv(variable);
  return words != nullptr && std::strstr(words, word) != nullptr;
}

// Returns true if the backend does without that extension or feature.
inline bool is_without(const char* what) { return variable_has("ARROWDEVICE_VULKAN_WITHOUT", what); }

using Bytes = std::vector<unsigned char>;

inline Bytes pattern(int64_t size, int seed) {
  Bytes bytes(static_cast<size_t>(size));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>((i * 31 + i / 251) % 255 + static_cast<size_t>(seed));
  return bytes;
}

}  // namespace vulkan_test
