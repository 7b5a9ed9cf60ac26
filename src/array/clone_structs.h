// SPDX-License-Identifier: Apache-2.0
// Arrays with new structs and the buffers of another array.
#pragma once

#include "array/output.h"

namespace arrowdevice::array {

// Copies the structs of an array, unchanged, into a new output. Throws EINVAL if the array has NULL or released
// children, cycles, too many levels or too many nodes. The format limits the levels, and this library limits the nodes.
Output clone_structs(const ArrowArray& root);

}  // namespace arrowdevice::array
