// SPDX-License-Identifier: Apache-2.0
// Copies between a device and pageable host memory, in pieces through pinned memory. While a piece is on the link, the
// CPU fills or empties another one. A large copy uses several threads: a driver does the same with a single thread,
// which is slower than the link. A small copy uses the calling thread: a driver would wait for each buffer.
#pragma once

#include <span>

#include "transfer/submit.h"

namespace arrowdevice::transfer {

// Returns true if copies between the two devices may use this path. A large copy then occupies the calling thread.
bool may_go_through_pinned(const device::Device& source, const device::Device& target);

// The bytes of a copy.
struct CopyBytes {
  int64_t all = 0;
  int64_t in_small = 0;  // of these, the bytes in buffers that are at most as large as a piece

  void add(int64_t buffer) noexcept;
};

// Returns true if a large copy should use this path, for its ranges in pageable memory. The route has the host at one
// end. An application's queue is used by the calling thread only. With one thread, this path is faster than the driver
// only if most bytes are in small buffers, because each of them would be a call that the driver waits in.
bool gains_from_pinned(const Route& route, const CopyBytes& bytes);

// Kinds of host memory, as the driver at the device's end of a route sees them. kDirect is pageable memory that the
// device uses by the page tables of the host, as fast as pinned memory.
enum class HostMemory { kPageable, kDirect, kPinned };

HostMemory kind_of(const Route& route, const void* host) noexcept;

// Copies regions between pageable host memory and a device with pinned memory. Regions that are adjacent in the target
// become one. Returns false, and has done nothing, if there is no pinned memory. Otherwise, all bytes of a copy to the
// host have arrived. The last pieces of a copy to a device may still be in flight, and `in_flight` holds their memory.
// After any failure, pieces may still be in flight.
bool copy_through_pinned(Route& route, std::span<const arrowdevice_backend_region> regions, const Deadline& deadline,
                         InFlight& in_flight);

// A copy of at least this many bytes gains from several threads.
inline constexpr int64_t kLeastThreadedBytes = 8 << 20;

// The bytes that are gathered or scattered at a time. A large copy has pieces of at least this size.
inline constexpr int64_t kSmallPieceBytes = 2 << 20;

// The message for the log if pinned memory cannot be allocated.
inline constexpr const char* kLacksPinned = "a copy is slower, because there is no pinned memory for it";

}  // namespace arrowdevice::transfer
