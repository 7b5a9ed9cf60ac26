// SPDX-License-Identifier: Apache-2.0
#include "vulkan/logical_device.h"

#include <cerrno>

#include "base/error.h"
#include "vulkan/result.h"

namespace arrowdevice::vulkan {

LogicalDevice::LogicalDevice(VkDevice handle, PFN_vkGetDeviceProcAddr get, std::string name, bool owned)
    : handle_(handle), owned_(owned), name_(std::move(name)) {
  try {
    vk_ = device_functions(get, handle);
  } catch (...) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDevice>(get(handle, "vkDestroyDevice"));
    if (owned && destroy != nullptr) destroy(handle, nullptr);
    throw;
  }
}

LogicalDevice::~LogicalDevice() {
  if (owned_) vk_.vkDestroyDevice(handle_, nullptr);
}

void LogicalDevice::check(const char* call, VkResult result, const std::string& detail) const {
  if (result == VK_ERROR_DEVICE_LOST) lost_.store(true, std::memory_order_release);
  vulkan::check(call, result, detail.empty() ? name_ : detail + " on " + name_);
}

void LogicalDevice::check_not_lost() const {
  if (is_lost()) throw Error(EIO, name_ + " is lost: VK_ERROR_DEVICE_LOST", {}, VK_ERROR_DEVICE_LOST);
}

}  // namespace arrowdevice::vulkan
