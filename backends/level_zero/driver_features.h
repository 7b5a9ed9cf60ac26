// SPDX-License-Identifier: Apache-2.0
// The abilities of a driver that came after Level Zero 1.0.
#pragma once

#include <cstdint>

#include "level_zero/api.h"

namespace arrowdevice::level_zero {

// The kinds of immediate command lists. A driver that can create one kind can create those before it.
enum class ListKind {
  kUnordered,   // barriers order the commands
  kInOrder,     // the driver orders the commands
  kOffloading,  // in order, and the driver may run a copy on an engine that only copies
};

// The form in which a list is asked to offload copies: a flag from version 1.14 on, before that a struct of Intel's.
enum class OffloadForm { kStruct, kFlag };

struct DriverFeatures {
  ListKind best_list = ListKind::kUnordered;
  OffloadForm offload_form = OffloadForm::kStruct;
};

// `version` is the driver's API version.
DriverFeatures features_of(ze_driver_handle_t driver, uint32_t version);

}  // namespace arrowdevice::level_zero
