// SPDX-License-Identifier: Apache-2.0
// Options from the environment. README.md documents them.
#pragma once

#include <string>

namespace arrowdevice::vulkan {

struct Options {
  std::string library;  // ARROWDEVICE_VULKAN_LIBRARY: absolute path of the loader, or empty for the system's loader

  // ARROWDEVICE_VULKAN_WITHOUT: features that the backend does not use even if they are available.
  bool timeline_semaphores = true;
  bool external_memory_host = true;
  bool external_memory_fd = true;
  bool direct_mapping = true;
  bool memory_budget = true;
  // ARROWDEVICE_VULKAN_WITH: features that the backend uses only if asked.
  bool transfer_family = false;
  // ARROWDEVICE_VULKAN_FORCE: steps that the backend takes even if they are not needed.
  bool noncoherent = false;

  // Throws EINVAL for an unknown word.
  static Options from_environment();
};

}  // namespace arrowdevice::vulkan
