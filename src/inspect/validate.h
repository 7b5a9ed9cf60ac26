// SPDX-License-Identifier: Apache-2.0
// The data of an array, looked at wherever it lies: whether what it refers to is there.
#pragma once

#include <arrowdevice/abi.h>

#include "base/deadline.h"
#include "device/device.h"
#include "schema/binding.h"

namespace arrowdevice::inspect {

// How far an array is looked at.
enum class Level {
  kStructure,  // the structs alone
  kFull,       // also the data: no consumer is led out of bounds, and texts are texts
  kStrict,     // also what real producers neglect
};

// Throws EINVAL, with the path of the child, for an array that does not hold. `named`: NULL, or the device that the
// application says it is on.
void validate(const ArrowDeviceArray& array, const ArrowSchema& schema, device::Device* named, Level level,
              const Deadline& deadline);

// What is left to look at of an array that fits its schema. Beyond the structure that waits for the array, and reads
// its data back from the device in pieces.
void validate_data(const schema::Binding& bound, const ArrowDeviceArray& array, device::Device& source, Level level,
                   const Deadline& deadline);

}  // namespace arrowdevice::inspect
