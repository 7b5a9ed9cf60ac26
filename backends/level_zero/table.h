// SPDX-License-Identifier: Apache-2.0
// The backend table of Level Zero.
#pragma once

#include <arrowdevice/backend.h>

namespace arrowdevice::level_zero {

const arrowdevice_backend& table();

}  // namespace arrowdevice::level_zero
