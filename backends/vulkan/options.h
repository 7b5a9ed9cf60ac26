// SPDX-License-Identifier: Apache-2.0
// What the environment asks of the backend. Its manual is in README.md.
#pragma once

#include <string>

namespace arrowdevice::vulkan {

struct Options {
  std::string library;  // ARROWDEVICE_VULKAN_LIBRARY: the loader, by its absolute path; empty: the system's

  // ARROWDEVICE_VULKAN_WITHOUT: what is not used although it is there.
  bool timeline_semaphores = true;
  bool external_memory_host = true;
  bool direct_mapping = true;
  bool transfer_family = true;
  bool memory_budget = true;
  // ARROWDEVICE_VULKAN_FORCE: what is done although there is no need.
  bool noncoherent = false;

  // Throws EINVAL for a word that means nothing.
  static Options from_environment();
};

}  // namespace arrowdevice::vulkan
