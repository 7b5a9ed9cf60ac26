// SPDX-License-Identifier: Apache-2.0
#include "transfer/two_pass_copy.h"

#include <exception>

#include "base/trace.h"
#include "transfer/field_writer.h"

namespace arrowdevice::transfer {
namespace {

// Rooms in the block of the structs, one behind the other.
class RoomsInBlock {
 public:
  explicit RoomsInBlock(uint8_t* begin) noexcept : end_(begin) {}

  // Clears the last part before it is written, which is the same work for every size.
  BufferRoom add(int64_t size) noexcept {
    uint8_t* const buffer = end_;
    end_ += padded(size);
    std::memset(end_ - kPaddedTo, 0, kPaddedTo);
    return {buffer, buffer};
  }
  void descend() noexcept {}
  void ascend() noexcept {}

 private:
  uint8_t* end_;
};

// Returns true for the CPU, unless the application chose its pool or a receiver wants to learn of copies.
bool is_plain_target(const device::Device& to) noexcept {
  return to.is_cpu() && !to.has_chosen_pool() && trace::receivers.load(std::memory_order_relaxed) == 0;
}

// Returns true if the time is that of the bytes, for which the pool has better memory.
bool has_large_buffers(const HostTotals& totals) noexcept {
  constexpr int64_t kSmall = int64_t{1} << 20;
  constexpr int64_t kSmallBuffer = int64_t{64} << 10;
  return totals.bytes > kSmall && totals.bytes / kSmallBuffer > totals.shape.buffers;
}

}  // namespace

[[gnu::hot]] void write(const HostFields& fields, const HostTotals& totals, ArrowArray* out) {
  array::Output output(totals.shape, totals.bytes);
  FieldWriter(fields, output, RoomsInBlock(output.bytes())).write_field();
  output.publish(nullptr, out);
}

[[gnu::hot]] bool copy_in_two_passes(const ArrowDeviceArray& array, const ArrowSchema& schema, const device::Device& to,
                                     ArrowDeviceArray* out) noexcept {
  if (array.device_type != ARROW_DEVICE_CPU || array.sync_event != nullptr || !is_plain_target(to)) return false;
  HostFields fields;
  HostTotals totals;
  if (!measure(schema, array.array, fields, totals) || has_large_buffers(totals)) return false;
  ArrowDeviceArray copied{};
  try {
    write(fields, totals, &copied.array);
  } catch (const std::exception&) {
    return false;  // too large for this, or there is no memory
  }
  copied.device_type = ARROW_DEVICE_CPU;
  copied.device_id = to.published_id();
  *out = copied;
  return true;
}

}  // namespace arrowdevice::transfer
