// SPDX-License-Identifier: Apache-2.0
// Chooses how a batch of copies is submitted. A measurement decides once for each device.
#pragma once

#include "opencl/vendor.h"

namespace arrowdevice::opencl {

enum class Submission {
  kCommands,      // one read, write or copy command for each region
  kNativeKernel,  // for all regions of a buffer, one native kernel on the device's own thread
};

// Returns the choice of ARROWDEVICE_OPENCL_SUBMISSION (`commands` or `kernel`), or the faster choice if it is not set.
// The measurement takes about a millisecond and uses its own context.
Submission choose_submission(cl_device_id device);

}  // namespace arrowdevice::opencl
