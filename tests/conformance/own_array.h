// SPDX-License-Identifier: Apache-2.0
// An int32 array over device memory of the caller's own, as an application that fills buffers itself would make one.
#pragma once

#include <atomic>
#include <memory>

#include "conformance/bytes.h"

namespace arrowdevice::conformance {

// Counts calls of a release callback; shared with the callback, which may come late and from another thread.
using Releases = std::shared_ptr<std::atomic<int>>;

inline Releases count_releases() { return std::make_shared<std::atomic<int>>(0); }

// Takes the buffer over; `releases` counts one when the array is released.
Owned<ArrowArray> array_over(DeviceBuffer buffer, int64_t rows, Releases releases);

// The first int32 column, as bytes, of an array on the host.
Bytes values_of(const ArrowArray& array);

}  // namespace arrowdevice::conformance
