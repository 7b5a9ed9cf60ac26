// SPDX-License-Identifier: Apache-2.0
// Copies and moves of arrays between owners and devices.
#pragma once

#include <arrowdevice/abi.h>

#include "base/deadline.h"
#include "device/device.h"
#include "device/pool.h"
#include "device/queue.h"
#include "schema/tree.h"

namespace arrowdevice::transfer {

struct CopyOptions {
  bool async = false;
  bool always = false;
  bool never = false;
  bool whole = false;
  device::Queue* queue = nullptr;
  std::shared_ptr<device::Pool> pool;
  device::Device* source = nullptr;
  Deadline deadline{ARROWDEVICE_NO_TIMEOUT};
  device::Holder holder = device::Holder::kCopies;
};

// All functions take ownership of `moved` on success and leave it to the caller on failure. If a call ends early,
// `moved` may have become a shared owner.

void copy(const ArrowDeviceArray& array, const ArrowSchema& schema, device::Device& to, const CopyOptions& options,
          ArrowDeviceArray* out);
// Does the same with a schema that is already parsed. If the call ends early, the library holds a reference to `inout`.
void copy(ArrowDeviceArray& inout, const schema::Tree& tree, device::Device& to, const CopyOptions& options,
          ArrowDeviceArray* out);
void to_device(ArrowDeviceArray& moved, const ArrowSchema& schema, device::Device& to, const CopyOptions& options,
               ArrowDeviceArray* out);
// Does the same as above, with a schema that is already parsed.
void to_device(ArrowDeviceArray& moved, const schema::Tree& tree, device::Device& to, const CopyOptions& options,
               ArrowDeviceArray* out);

// Throws EINVAL if the queue or pool cannot serve moves of future arrays. Only the type of their device is known, or 0
// if not even the type is.
void check_queue_and_pool(const CopyOptions& options, ArrowDeviceType source, const device::Device& to);

// Returns true if such a move, even if asynchronous, occupies its thread while devices work.
bool move_blocks(const ArrowDeviceArray& moved, device::Device& to, const CopyOptions& options);

void from_host(ArrowArray& moved, ArrowDeviceArray* out);
void to_host(ArrowDeviceArray& moved, const ArrowSchema& schema, const CopyOptions& options, ArrowArray* out);

void release_after(ArrowDeviceArray& moved, device::Queue& queue);

}  // namespace arrowdevice::transfer
