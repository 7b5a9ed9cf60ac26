// SPDX-License-Identifier: Apache-2.0
// Step 4 of a copy: the bytes go on their way.
#pragma once

#include <vector>

#include "base/scratch.h"
#include "device/pool.h"
#include "transfer/parts.h"
#include "transfer/route.h"

namespace arrowdevice::transfer {

// What a submission uses until it is done.
struct InFlight {
  std::vector<device::Allocation> staging;
};

// Submits all parts to `target`, the one allocation. Where the CPU writes the target, parts that it makes are there on
// return and copies may still be running; parts with origin kCopiedThenAdjusted are to be put right after that.
// `in_flight` may be NULL where the CPU reads and writes.
void submit(const schema::Binding& array, const Plan& plan, const Parts& parts, Route& route, void* target,
            InFlight* in_flight, Scratch& scratch);

// Host buffers up to this size are gathered into one staging block, so that many small ones are one region.
inline constexpr int64_t kLargestGathered = 64 << 10;

}  // namespace arrowdevice::transfer
