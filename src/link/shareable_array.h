// SPDX-License-Identifier: Apache-2.0
// Arrays in memory that other processes can open.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array/output.h"
#include "device/device.h"
#include "link/buffer_locations.h"
#include "schema/build.h"
#include "schema/tree.h"
#include "transfer/move.h"

namespace arrowdevice::link {

struct ShareableArray {
  BufferLocations locations;
  std::shared_ptr<array::BufferOwner> owner;
  int64_t bytes = 0;         // of all buffers
  int64_t copied_bytes = 0;  // 0 if the array was in such memory before
};

inline constexpr const char* kAlwaysCopied = "COPY_ALWAYS is set";

// Waits for an array, and copies it into shareable memory of its device if necessary. The array stays valid, and may
// become a shared owner. `copy`, if not NULL, receives the copy if there is one. `why_always` is for the log: the
// reason why `options` demand a copy. Throws ENOTSUP if a copy is necessary and ruled out, or if the backend has no
// such memory.
ShareableArray make_shareable(ArrowDeviceArray& inout, const schema::Tree& tree, device::Device& device,
                              const transfer::CopyOptions& options, ArrowDeviceArray* copy = nullptr,
                              const char* why_always = kAlwaysCopied);

// Writes the type of arrays as a schema message. Such a message describes the columns of a batch. The array is its only
// column, so that it may have any type, and keeps its name and its flags.
std::vector<uint8_t> write_type(const ArrowSchema& schema);

// Reads that message.
schema::UniqueSchema read_type(std::span<const uint8_t> message);

}  // namespace arrowdevice::link
