// SPDX-License-Identifier: Apache-2.0
// Step 4 of a copy: submits the copies.
#pragma once

#include <span>
#include <vector>

#include "base/scratch.h"
#include "device/pool.h"
#include "transfer/placement.h"
#include "transfer/route.h"

namespace arrowdevice::transfer {

// How the bytes of a copy get to the target, for the log and the trace.
enum class Way { kDirect, kPinned, kGathered, kStaged };

// Memory that a submission uses until it has finished. The caller may have allocated the memory for gathered buffers.
struct InFlight {
  std::vector<device::Allocation> staging;
  Way way = Way::kDirect;
  const char* reason = nullptr;  // for any other way, the rest of a sentence after "because"
};

// Notes that a copy gathers all its bytes. `are_large` is true if buffers above kLargestGathered are gathered too.
void note_gathered(const Route& route, bool are_large, InFlight& in_flight);

// The message if a copy does not end in time.
inline constexpr const char* kLate = "the copy is not done in time";

// Memory of a device with buffers that the library has padded with zeros. Empty for other memory.
struct PaddedBuffers {
  const char* memory = nullptr;
  std::span<const int64_t> ends = {};  // of the buffers, in bytes from the start of the memory, ascending
};

// Returns the region that copies an output buffer to its place in the allocation `target`.
arrowdevice_backend_region region_of(const OutputBuffer& buffer, const Route& route, void* target);

// Submits all output buffers to `target`, the allocation. If the CPU writes the target, buffers with the origin kMade
// are complete on return and copies may still run. The caller then adjusts the buffers with the origin
// kCopiedThenAdjusted. `in_flight` may be NULL if the CPU reads and writes. Returns true if all bytes have arrived, so
// that nothing is left to wait for. The deadline limits the waits for pieces.
bool submit(const schema::Binding& array, const Plan& plan, const PlacedBuffers& placed, Route& route, void* target,
            InFlight* in_flight, const PaddedBuffers& source, const Deadline& deadline, Scratch& scratch);

// Host buffers up to this size are gathered in one staging block, so that many small buffers become one region.
inline constexpr int64_t kLargestGathered = 64 << 10;

}  // namespace arrowdevice::transfer
