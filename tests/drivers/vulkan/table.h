// SPDX-License-Identifier: Apache-2.0
// The table of the backend, from the plugin at VULKAN_PLUGIN, for tests that call the functions of the backend.
#pragma once

#include <arrowdevice/backend.h>
#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "support/calls.h"

namespace vulkan_test {

inline const arrowdevice_backend& table() {
  static const arrowdevice_backend* const found = [] {
    const char* const plugin = std::getenv("VULKAN_PLUGIN");
    void* const opened = plugin != nullptr ? dlopen(plugin, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (opened == nullptr) throw std::runtime_error("VULKAN_PLUGIN names no plugin: run this by meson test");
    arrowdevice_error error{};
    const auto entry = reinterpret_cast<arrowdevice_backend_entry_function>(dlsym(opened, ARROWDEVICE_BACKEND_ENTRY));
    return entry(ARROWDEVICE_BACKEND_ABI_VERSION, &error);
  }();
  return *found;
}

inline void* device() { return arrowdevice::testing::output_of(table().device_open, ARROW_DEVICE_VULKAN, 0); }

}  // namespace vulkan_test
