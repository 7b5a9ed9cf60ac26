// SPDX-License-Identifier: Apache-2.0
// How a batch of copies is submitted, decided once for each device by measuring.
#pragma once

#include "opencl/vendor.h"

namespace arrowdevice::opencl {

enum class Submission {
  kCommands,      // one read, write or copy command a region
  kNativeKernel,  // one native kernel, which the device's own thread runs, for all regions of a buffer
};

// As ARROWDEVICE_OPENCL_SUBMISSION says, `commands` or `kernel`; else the faster one. Takes about a millisecond, in a
// context of its own.
Submission choose_submission(cl_device_id device);

}  // namespace arrowdevice::opencl
