// SPDX-License-Identifier: Apache-2.0
// The backend table of OpenCL.
#pragma once

#include <arrowdevice/backend.h>

namespace arrowdevice::opencl {

const arrowdevice_backend& table();

}  // namespace arrowdevice::opencl
