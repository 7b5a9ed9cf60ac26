// SPDX-License-Identifier: Apache-2.0
// The device types that the format names, and which plugin is expected to drive each.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace arrowdevice::backend {

struct DeviceTypeInfo {
  ArrowDeviceType type;
  const char* name;     // "cuda_host"
  const char* plugin;   // "cuda": of libarrowdevice-cuda.so
  bool has_events;      // whether the format names an event for it
  bool minus_one_is_0;  // whether device id -1 stands for 0
  bool may_be_on_host;  // whether the CPU may read it in place; of the others it is known that it does not
};

// NULL if the format names no such type.
const DeviceTypeInfo* find_device_type(ArrowDeviceType type) noexcept;
const DeviceTypeInfo* find_device_type(std::string_view name) noexcept;

// "cuda_host", or "device type 99" for one that the format does not name.
std::string device_type_text(ArrowDeviceType type);

// "CUDA 0" as messages name a device: "cuda:0".
std::string device_text(ArrowDeviceType type, int64_t id);

// The id that one device has: -1 and 0 are one where the format or common practice says so.
int64_t canonical_device_id(ArrowDeviceType type, int64_t id) noexcept;

// The environment variable that must be set for a plugin to be used without being named by path; NULL: none is needed.
const char* plugin_opt_in(std::string_view plugin) noexcept;

}  // namespace arrowdevice::backend
