// SPDX-License-Identifier: Apache-2.0
// Validates the data of an array on any device: checks that all data that it refers to exists.
#pragma once

#include <arrowdevice/abi.h>

#include "base/deadline.h"
#include "device/device.h"
#include "schema/binding.h"

namespace arrowdevice::inspect {

// Levels of validation.
enum class Level {
  kStructure,  // only the structs
  kFull,       // structs and data: no consumer reads out of bounds, and texts are UTF-8
  kStrict,     // kFull and rules that real producers neglect
};

// Throws EINVAL, with the path of the child, if the array is not valid. `named` is NULL, or the device that the
// application names.
void validate(const ArrowDeviceArray& array, const ArrowSchema& schema, device::Device* named, Level level,
              const Deadline& deadline);

// Validates the rest of an array that matches its schema. Beyond kStructure, waits for the array and reads its data
// back from the device in pieces. If a wait ends early, the library holds a reference to `moved`, which is the array or
// NULL.
void validate_data(const schema::Binding& bound, const ArrowDeviceArray& array, ArrowDeviceArray* moved,
                   device::Device& source, Level level, const Deadline& deadline);

}  // namespace arrowdevice::inspect
