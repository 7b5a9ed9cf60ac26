// SPDX-License-Identifier: Apache-2.0
// The device types of the Arrow format: their devices on this machine, or the reason why there is none.
#pragma once

#include <arrowdevice/arrowdevice.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace arrowdevice::tool {

struct TypeState {
  ArrowDeviceType type;
  std::string name;     // "cuda"
  std::string backend;  // the backend that drives the type, loaded or not; empty if none does
  std::vector<arrowdevice_device_info> devices;
  std::string reason;  // why there is no device; empty if there is one
};

// Everything that is known after all backends were loaded.
struct Survey {
  std::vector<TypeState> types;                      // in the order of the format
  std::vector<arrowdevice_backend_report> searched;  // the places, in the order of the search
};

// Loads every backend and starts every driver.
Survey survey();

// Returns all types that the format names, in the order of the format.
std::vector<ArrowDeviceType> named_types();

// Returns the backend of this project that drives a type, such as "hip" for "rocm_host". Returns an empty string if no
// backend does.
std::string backend_of(std::string_view type_name);

// Returns the reason why this build lacks a backend. Returns an empty string if the build has the backend or does not
// know the name.
std::string why_not_built(const std::string& backend);

// Returns the names of backends that this build lacks.
std::vector<std::string> backends_not_built();

}  // namespace arrowdevice::tool
