// SPDX-License-Identifier: Apache-2.0
#include "transfer/gathered_copy.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "transfer/copy_run.h"
#include "transfer/field_writer.h"
#include "transfer/pinned.h"
#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

// Returns the next multiple of an alignment, which is a power of two. Sizes here are too small to overflow.
int64_t aligned(int64_t position, int64_t alignment) noexcept { return (position + alignment - 1) & -alignment; }

// Rooms in the staging memory, at the positions that the buffers will have on the device.
class StagedRooms {
 public:
  StagedRooms(DevicePositions& positions, uint8_t* stage, CopyOwner& owner, bool notes_ends)
      : positions_(positions), stage_(stage), owner_(owner) {
    if (!notes_ends) return;
    owner.ends_of_buffers.resize(static_cast<size_t>(positions.buffers()));
    ends_ = owner.ends_of_buffers.data();
  }

  // Clears the last part before it is written, and the gap up to the next buffer.
  BufferRoom add(int64_t size) {
    auto& level = positions_.level(depth_);
    const int64_t begin = level.next;
    const int64_t last_part = begin + padded(size) - kPaddedTo;
    level.next = aligned(begin + size, positions_.alignment());
    std::memset(stage_ + last_part, 0, static_cast<size_t>(std::min(level.next, positions_.bytes()) - last_part));
    if (ends_ != nullptr) ends_[level.index++] = begin + size;
    return {stage_ + begin, owner_.memory().allocation.sub_buffer(begin, padded(size))};
  }
  void descend() noexcept { ++depth_; }
  void ascend() noexcept { --depth_; }

 private:
  DevicePositions& positions_;
  uint8_t* const stage_;
  CopyOwner& owner_;
  int64_t* ends_ = nullptr;
  int depth_ = 0;
};

class GatheredContent final : public CopyContent {
 public:
  GatheredContent(const HostFields& fields, const array::OutputShape& shape, DevicePositions& positions, Route& route)
      : fields_(fields), shape_(shape), positions_(positions), route_(route) {}

  CopySize place() override { return {positions_.bytes(), positions_.buffers()}; }

  void build(CopyOwner& owner, InFlight* in_flight) override {
    output_.emplace(shape_);
    auto& staging = in_flight->staging;
    if (staging.empty() && positions_.bytes() > 0) {
      staging.push_back(allocate_staging(route_.target(), positions_.bytes()));
    }
    stage_ = staging.empty() ? nullptr : static_cast<uint8_t*>(staging.back().buffer());
    const bool notes_ends = route_.target().has_addresses();
    FieldWriter(fields_, *output_, StagedRooms(positions_, stage_, owner, notes_ends)).write_field();
  }

  bool submit(void* target, InFlight* in_flight) override {
    note_gathered(route_, false, *in_flight);
    device::Counters::add(route_.target().counters().staged_bytes, positions_.bytes());
    const arrowdevice_backend_region all{route_.target_handle(), target, 0, nullptr, stage_, 0, positions_.bytes(), 0};
    route_.target_queue().copy({&all, 1});
    return false;
  }

  array::Output& output() override { return *output_; }

 private:
  const HostFields& fields_;
  const array::OutputShape& shape_;
  DevicePositions& positions_;
  Route& route_;
  uint8_t* stage_ = nullptr;
  std::optional<array::Output> output_;
};

// Returns true for an array of the CPU that the engine, too, would neither wait for nor look up.
bool is_on_cpu(const ArrowDeviceArray& array) noexcept {
  return array.device_type == ARROW_DEVICE_CPU && (array.device_id == -1 || array.device_id == 0) &&
         array.sync_event == nullptr;
}

}  // namespace

void DevicePositions::add(Level& level, int64_t size) noexcept {
  if (size == 0) return;
  level.end = level.next + size;
  level.next = aligned(level.end, alignment_);
  ++level.index;
  largest_ = std::max(largest_, size);
}

void DevicePositions::add_buffers(const HostField& field, Level& level) noexcept {
  if (field.validity != nullptr) add(level, bytes_for_bits(field.rows));
  if (field.offset_bytes != 0) add(level, field.size_of_offsets());
  add(level, field.bytes);
}

void DevicePositions::add_fields(const HostField*& next, int32_t n, int depth) noexcept {
  for (; n_levels_ <= depth; ++n_levels_) levels_[static_cast<size_t>(n_levels_)] = {};
  Level& level = levels_[static_cast<size_t>(depth)];
  for (int32_t i = 0; i < n; ++i) {
    const HostField& field = *next++;
    add_buffers(field, level);
    if (field.n_children > 0) add_fields(next, field.n_children, depth + 1);
  }
}

void DevicePositions::place(const HostFields& fields, int64_t alignment) noexcept {
  alignment_ = alignment;
  const HostField* next = fields.begin();
  add_fields(next, 1, 0);
  int64_t begin = 0;
  for (int depth = 0; depth < n_levels_; ++depth) {
    Level& level = levels_[static_cast<size_t>(depth)];
    if (level.index > 0) bytes_ = begin + padded(level.end);
    const int64_t size = level.next;
    level.next = begin;
    begin += size;
    const int64_t buffers = level.index;
    level.index = buffers_;
    buffers_ += buffers;
  }
}

bool GatheredCopy::measure(const ArrowDeviceArray& array, const ArrowSchema& schema,
                           const device::Device& to) noexcept {
  if (!is_on_cpu(array) || to.is_on_host()) return false;
  if (!transfer::measure(schema, array.array, fields_, totals_) || totals_.bytes >= kLeastThreadedBytes) return false;
  positions_.place(fields_, std::max(kPaddedTo, to.info().sub_buffer_alignment));
  return positions_.largest_buffer() <= kLargestGathered && positions_.bytes() < kLeastThreadedBytes;
}

std::shared_ptr<device::Event> GatheredCopy::run(const CopyRequest& request, ArrowDeviceArray* out) {
  CopyRun run(request);
  GatheredContent content(fields_, totals_.shape, positions_, run.route());
  return run.run(content, out);
}

}  // namespace arrowdevice::transfer
