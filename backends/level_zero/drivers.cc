// SPDX-License-Identifier: Apache-2.0
#include "level_zero/drivers.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include "base/log.h"
#include "level_zero/api.h"
#include "level_zero/codes.h"

namespace arrowdevice::level_zero {
namespace {

// Level Zero 1. Older versions differ, and later versions are not known.
constexpr uint32_t kMajorVersion = 1;

// Keeps the handles that a call has written. If a driver reports more than requested, the rest would be NULL, and the
// loader would dereference NULL.
template <typename Handle>
void keep_written(std::vector<Handle>& handles, uint32_t count) {
  handles.resize(std::min<size_t>(count, handles.size()));
  std::erase(handles, nullptr);
}

std::vector<ze_driver_handle_t> list_drivers() {
  uint32_t count = 0;
  check("zeDriverGet", open_api().zeDriverGet(&count, nullptr));
  std::vector<ze_driver_handle_t> drivers(count);
  if (count > 0) check("zeDriverGet", api().zeDriverGet(&count, drivers.data()));
  keep_written(drivers, count);
  return drivers;
}

std::vector<ze_device_handle_t> list_devices(ze_driver_handle_t driver) {
  uint32_t count = 0;
  check("zeDeviceGet", api().zeDeviceGet(driver, &count, nullptr));
  std::vector<ze_device_handle_t> devices(count);
  if (count > 0) check("zeDeviceGet", api().zeDeviceGet(driver, &count, devices.data()));
  keep_written(devices, count);
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

// Throws ENODEV if the driver has another major version.
void check_version(uint32_t version) {
  if (ZE_MAJOR_VERSION(version) == kMajorVersion) return;
  throw Error(ENODEV,
              format("a driver is for Level Zero %u.%u and %s: install one for 1.0 or newer", ZE_MAJOR_VERSION(version),
                     ZE_MINOR_VERSION(version), ZE_MAJOR_VERSION(version) < kMajorVersion ? "too old" : "too new"));
}

std::vector<DriverDevice> list_devices_of(ze_driver_handle_t driver) {
  const uint32_t version = version_of(driver);
  check_version(version);
  std::vector<DriverDevice> listed;
  for (auto* const device : list_devices(driver)) {
    if (is_gpu(device)) listed.push_back({driver, device, version >= kFirstWithInOrder});
  }
  return listed;
}

}  // namespace

// A driver that fails does not hide the GPUs of other drivers.
std::vector<DriverDevice> list_driver_devices() {
  std::vector<DriverDevice> listed;
  std::optional<Error> failed;
  for (auto* const driver : list_drivers()) {
    try {
      const auto found = list_devices_of(driver);
      listed.insert(listed.end(), found.begin(), found.end());
    } catch (const Error& e) {
      failed = e;
    }
  }
  if (listed.empty() && failed && failed->native_code() != 0) throw Error(*failed);
  if (listed.empty()) {
    throw Error(ENODEV, "zeDeviceGet: the Level Zero drivers here have no GPU, or ZE_AFFINITY_MASK hides them" +
                            (failed ? "; " + failed->message() : std::string()));
  }
  if (failed) log(LogLevel::kWarning, "the GPUs of a Level Zero driver are not listed: " + failed->message());
  return listed;
}

}  // namespace arrowdevice::level_zero
