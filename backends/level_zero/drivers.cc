// SPDX-License-Identifier: Apache-2.0
#include "level_zero/drivers.h"

#include <cerrno>
#include <string>

#include "level_zero/api.h"
#include "level_zero/codes.h"

namespace arrowdevice::level_zero {
namespace {

// Level Zero 1: before it everything was another, and what comes after it nobody knows.
constexpr uint32_t kMajorVersion = 1;

std::vector<ze_driver_handle_t> list_drivers() {
  uint32_t count = 0;
  check("zeDriverGet", open_api().zeDriverGet(&count, nullptr));
  std::vector<ze_driver_handle_t> drivers(count);
  if (count > 0) check("zeDriverGet", api().zeDriverGet(&count, drivers.data()));
  drivers.resize(count);
  return drivers;
}

std::vector<ze_device_handle_t> list_devices(ze_driver_handle_t driver) {
  uint32_t count = 0;
  check("zeDeviceGet", api().zeDeviceGet(driver, &count, nullptr));
  std::vector<ze_device_handle_t> devices(count);
  if (count > 0) check("zeDeviceGet", api().zeDeviceGet(driver, &count, devices.data()));
  devices.resize(count);
  return devices;
}

bool is_gpu(ze_device_handle_t device) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  check("zeDeviceGetProperties", api().zeDeviceGetProperties(device, &properties));
  return properties.type == ZE_DEVICE_TYPE_GPU;
}

uint32_t version_of(ze_driver_handle_t driver) {
  ze_api_version_t version{};
  check("zeDriverGetApiVersion", api().zeDriverGetApiVersion(driver, &version));
  return static_cast<uint32_t>(version);
}

}  // namespace

std::vector<DriverDevice> list_driver_devices() {
  std::vector<DriverDevice> listed;
  std::string refused;
  for (auto* const driver : list_drivers()) {
    const uint32_t version = version_of(driver);
    if (ZE_MAJOR_VERSION(version) != kMajorVersion) {
      refused =
          format("; a driver is for Level Zero %u.%u and %s: install one for 1.0 or newer", ZE_MAJOR_VERSION(version),
                 ZE_MINOR_VERSION(version), ZE_MAJOR_VERSION(version) < kMajorVersion ? "too old" : "too new");
      continue;
    }
    for (auto* const device : list_devices(driver)) {
      if (is_gpu(device)) listed.push_back({driver, device, version >= kFirstWithInOrder});
    }
  }
  if (listed.empty()) {
    throw Error(ENODEV,
                "zeDeviceGet: the Level Zero drivers here have no GPU, or ZE_AFFINITY_MASK hides them" + refused);
  }
  return listed;
}

}  // namespace arrowdevice::level_zero
