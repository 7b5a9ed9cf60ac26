// SPDX-License-Identifier: Apache-2.0
// Arrays change hands, and devices.
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
};

// All take over `moved` on success and leave it untouched on failure.

void copy(const ArrowDeviceArray& array, const ArrowSchema& schema, device::Device& to, const CopyOptions& options,
          ArrowDeviceArray* out);
void to_device(ArrowDeviceArray& moved, const ArrowSchema& schema, device::Device& to, const CopyOptions& options,
               ArrowDeviceArray* out);
// As above, with the schema read already.
void to_device(ArrowDeviceArray& moved, const schema::Tree& tree, device::Device& to, const CopyOptions& options,
               ArrowDeviceArray* out);

// Throws EINVAL for a queue or pool that cannot serve moves of arrays that are still to come: as far as the type of
// their device tells, 0 if not even that is known.
void check_queue_and_pool(const CopyOptions& options, ArrowDeviceType source, const device::Device& to);

// Whether such a move, even an asynchronous one, occupies its thread while devices work.
bool move_blocks(const ArrowDeviceArray& moved, device::Device& to, const CopyOptions& options);

void from_host(ArrowArray& moved, ArrowDeviceArray* out);
void to_host(ArrowDeviceArray& moved, const ArrowSchema& schema, const CopyOptions& options, ArrowArray* out);

void release_after(ArrowDeviceArray& moved, device::Queue& queue);

}  // namespace arrowdevice::transfer
