// SPDX-License-Identifier: Apache-2.0
#include "level_zero/driver_features.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace arrowdevice::level_zero {
namespace {

constexpr uint32_t kFirstWithInOrder = ZE_MAKE_VERSION(1, 7);
constexpr uint32_t kFirstWithOffloadFlag = ZE_MAKE_VERSION(1, 14);

// Intel's drivers report these extensions before they report the versions above.
constexpr std::string_view kInOrderExtension = "ZE_experimental_event_pool_counter_based";
constexpr std::string_view kOffloadExtension = "ZEX_intel_experimental_queue_copy_operations_offload_hint";

// Intel's drivers report 1.3 and the number of their build, whatever their API version is. Intel's own runtime trusts
// in-order lists from this build on, which is of December 2024.
constexpr uint32_t kFirstTrustedDriver = 0x01030000 + 32149;

using Extensions = std::vector<ze_driver_extension_properties_t>;

// Returns none if the driver does not answer. The lists then have no more abilities than those of 1.0.
Extensions extensions_of(ze_driver_handle_t driver) {
  uint32_t count = 0;
  if (api().zeDriverGetExtensionProperties(driver, &count, nullptr) != ZE_RESULT_SUCCESS) return {};
  Extensions extensions(count);
  if (count == 0 || api().zeDriverGetExtensionProperties(driver, &count, extensions.data()) != ZE_RESULT_SUCCESS) {
    return {};
  }
  extensions.resize(std::min<size_t>(count, extensions.size()));
  return extensions;
}

bool has(const Extensions& extensions, std::string_view name) {
  return std::ranges::any_of(extensions, [&](const auto& one) {
    return std::string_view(one.name, strnlen(one.name, sizeof one.name)) == name;
  });
}

// Returns 0 if the driver does not answer.
uint32_t driver_version(ze_driver_handle_t driver) {
  ze_driver_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  return api().zeDriverGetProperties(driver, &properties) == ZE_RESULT_SUCCESS ? properties.driverVersion : 0;
}

bool has_in_order_lists(ze_driver_handle_t driver, uint32_t version, const Extensions& extensions) {
  if (version >= kFirstWithInOrder) return true;
  return has(extensions, kInOrderExtension) && driver_version(driver) >= kFirstTrustedDriver;
}

}  // namespace

DriverFeatures features_of(ze_driver_handle_t driver, uint32_t version) {
  const Extensions extensions = extensions_of(driver);
  if (!has_in_order_lists(driver, version, extensions)) return {};
  if (version >= kFirstWithOffloadFlag) return {ListKind::kOffloading, OffloadForm::kFlag};
  if (has(extensions, kOffloadExtension)) return {ListKind::kOffloading, OffloadForm::kStruct};
  return {ListKind::kInOrder};
}

}  // namespace arrowdevice::level_zero
