// SPDX-License-Identifier: Apache-2.0
// Options of array operations, as the C API has read and checked them.
#pragma once

#include <memory>

#include "base/deadline.h"
#include "device/device.h"
#include "device/pool.h"
#include "device/queue.h"

namespace arrowdevice::array {

struct CopyOptions {
  bool async = false;
  bool always = false;
  bool never = false;
  bool whole = false;
  device::Queue* queue = nullptr;
  std::shared_ptr<device::Pool> pool;
  device::Device* source = nullptr;
  Deadline deadline{ARROWDEVICE_NO_TIMEOUT};
};

// How far an array is looked at.
enum class Level {
  kStructure,  // the structs alone
  kFull,       // also the data: no consumer is led out of bounds, and texts are texts
  kStrict,     // also what real producers neglect
};

struct ImportOptions {
  Level level = Level::kStructure;
  bool learn_sizes = false;
  device::Queue* queue = nullptr;
  device::Device* source = nullptr;
  Deadline deadline{ARROWDEVICE_NO_TIMEOUT};
};

}  // namespace arrowdevice::array
