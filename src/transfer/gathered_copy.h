// SPDX-License-Identifier: Apache-2.0
// A copy of a small array from the CPU to a device, in two passes over the structs. The second pass gathers all bytes
// in staging memory, so that the copy is one region. The copy engine makes all other copies.
#pragma once

#include <arrowdevice/abi.h>

#include <array>
#include <cstdint>
#include <memory>

#include "schema/tree.h"
#include "transfer/copy.h"
#include "transfer/host_fields.h"

namespace arrowdevice::transfer {

// The positions of buffers on a device. The copy engine places the fields of a level behind those of the level above.
// This class does the same, so that a later copy by the engine finds them in its own order.
class DevicePositions {
 public:
  struct Level {
    int64_t next;   // position of the next buffer
    int64_t end;    // of the last buffer
    int64_t index;  // of the next buffer
  };

  DevicePositions() noexcept {}  // the levels that are used are set later

  // Finds the positions. Each buffer begins at a multiple of `alignment`.
  void place(const HostFields& fields, int64_t alignment) noexcept;

  int64_t bytes() const noexcept { return bytes_; }
  int64_t buffers() const noexcept { return buffers_; }
  int64_t largest_buffer() const noexcept { return largest_; }
  int64_t alignment() const noexcept { return alignment_; }
  // Returns the positions of a level. After place(), `next` is that of its first buffer.
  Level& level(int depth) noexcept { return levels_[static_cast<size_t>(depth)]; }

 private:
  void add_fields(const HostField*& next, int32_t n, int depth) noexcept;
  void add_buffers(const HostField& field, Level& level) noexcept;
  void add(Level& level, int64_t size) noexcept;

  std::array<Level, schema::kDeepest> levels_;
  int n_levels_ = 0;
  int64_t alignment_ = 1;
  int64_t bytes_ = 0;
  int64_t buffers_ = 0;
  int64_t largest_ = 0;
};

class GatheredCopy {
 public:
  // Returns false if the copy engine must make the copy.
  bool measure(const ArrowDeviceArray& array, const ArrowSchema& schema, const device::Device& to) noexcept;

  // Does the same as copy_array(), once, after measure() has returned true.
  std::shared_ptr<device::Event> run(const CopyRequest& request, ArrowDeviceArray* out);

 private:
  HostFields fields_;
  HostTotals totals_;
  DevicePositions positions_;
};

}  // namespace arrowdevice::transfer
