// SPDX-License-Identifier: Apache-2.0
// The functions of the backend table.
#pragma once

#include <arrowdevice/backend.h>

namespace arrowdevice::opencl {

const arrowdevice_backend& table();

}  // namespace arrowdevice::opencl
