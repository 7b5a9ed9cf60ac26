// SPDX-License-Identifier: Apache-2.0
// The device types that the format names, and the plugin that drives each of them.
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
  const char* plugin;   // "cuda": for libarrowdevice-cuda.so
  bool has_events;      // the format names an event for the type
  bool minus_one_is_0;  // device id -1 stands for 0
  bool may_be_on_host;  // false: the CPU certainly cannot read it in place
};

// Returns NULL if the format names no such type. Upper and lower case are the same.
const DeviceTypeInfo* find_device_type(ArrowDeviceType type) noexcept;
const DeviceTypeInfo* find_device_type(std::string_view name) noexcept;

// Returns the type that a user may have meant by an unknown name, or NULL. The name may be that of a backend.
const DeviceTypeInfo* nearest_device_type(std::string_view name);

// Returns "cuda_host", or "device type 99" for a type that the format does not name.
std::string device_type_text(ArrowDeviceType type);

// Returns the name of a device for messages: "cuda:0".
std::string device_text(ArrowDeviceType type, int64_t id);

// Returns the canonical id of a device. Ids -1 and 0 are the same device if the format or common practice says so.
int64_t canonical_device_id(ArrowDeviceType type, int64_t id) noexcept;

// Returns true if every device of the type `from` can access memory of the type `memory` in place.
bool can_access(ArrowDeviceType from, ArrowDeviceType memory) noexcept;

// Returns the environment variable that must be set before a plugin is used without being named by path. Returns NULL
// if none is needed.
const char* plugin_opt_in(std::string_view plugin) noexcept;

}  // namespace arrowdevice::backend
