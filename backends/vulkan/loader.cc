// SPDX-License-Identifier: Apache-2.0
#include "vulkan/loader.h"

#include <dlfcn.h>

#include <cerrno>

#include "base/error.h"

namespace arrowdevice::vulkan {

GlobalFunctions open_loader(const std::string& library) {
  const std::string name = library.empty() ? "libvulkan.so.1" : library;
  void* const opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened == nullptr) {
    const char* const why = dlerror();
    throw Error(ENODEV, std::string("there is no Vulkan loader: ") + (why != nullptr ? why : name.c_str()));
  }
  auto* const get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(opened, "vkGetInstanceProcAddr"));
  if (get == nullptr) throw Error(ENODEV, name + " is no Vulkan loader: it has no vkGetInstanceProcAddr");
  return global_functions(get);
}

}  // namespace arrowdevice::vulkan
