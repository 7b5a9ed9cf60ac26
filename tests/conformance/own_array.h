// SPDX-License-Identifier: Apache-2.0
// Creates an int32 array over device memory that the caller owns. An application that fills its own buffers
// does the same.
#pragma once

#include <atomic>
#include <memory>

#include "conformance/bytes.h"

namespace arrowdevice::conformance {

// Counts calls of a release callback. The callback shares the counter, because it may run late and on another
// thread.
using Releases = std::shared_ptr<std::atomic<int>>;

inline Releases count_releases() { return std::make_shared<std::atomic<int>>(0); }

// Takes ownership of the buffer. Increments `releases` when the array is released.
Owned<ArrowArray> array_over(DeviceBuffer buffer, int64_t rows, Releases releases);

// Returns the bytes of an int32 array on the host.
Bytes values_of(const ArrowArray& array);

}  // namespace arrowdevice::conformance
