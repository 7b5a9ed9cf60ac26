// SPDX-License-Identifier: Apache-2.0
#include "transfer/placement.h"

#include <algorithm>

#include "base/checked.h"
#include "transfer/bits.h"

namespace arrowdevice::transfer {
namespace {

using schema::BufferShape;

class Placer {
 public:
  Placer(const schema::Binding& array, const Plan& plan, const Placement& placement, std::pmr::memory_resource* memory)
      : array_(array), tree_(array.tree()), plan_(plan), placement_(placement), placed_(memory) {}

  PlacedBuffers run() {
    placed_.buffers.reserve(2 * static_cast<size_t>(tree_.size()));  // enough for most tables
    for (int32_t field = 0; field < tree_.size(); ++field) place_field(field);
    placed_.device_bytes = align_up(placed_.device_bytes, kPaddedTo);
    return std::move(placed_);
  }

 private:
  void place_field(int32_t field) {
    if (array_.is_plain(field) && tree_[field].type.bit_width % 8 == 0) return place_plain(field);
    const auto& shapes = tree_[field].type.info().buffers;
    int32_t position = 0;
    for (const auto shape : shapes) {
      if (shape == BufferShape::kVariadic) {
        const int64_t n = array_.n_variadic(field);
        for (int64_t i = 0; i < n; ++i) place_variadic(field, position++, i);
      } else if (shape == BufferShape::kVariadicSizes) {
        place_sizes(field, position++);
      } else {
        place_slots(field, position++, shape);
      }
    }
  }

  // Places a field's buffers by a short form of the rules below, which is valid for most fields.
  void place_plain(int32_t field) {
    const auto& slots = plan_[field].slots;
    if (slots.count == 0) return;
    place_slots(field, 0, BufferShape::kValidity);
    const int64_t width = tree_[field].type.bit_width / 8;
    if (width > 0) copy(field, 1, BufferShape::kValues, slots.first * width, slots.count * width);
  }

  const void* source(int32_t field, int32_t position) const {
    return array_.buffers(field)[static_cast<size_t>(position)];
  }

  void place_variadic(int32_t field, int32_t position, int64_t index) {
    const auto& needed = plan_.variadic[static_cast<size_t>(plan_.refs(field).variadic + index)].needed;
    if (needed.count > 0) copy(field, position, BufferShape::kVariadic, needed.first, needed.count);
  }

  void place_sizes(int32_t field, int32_t position) {
    const int64_t n = array_.n_variadic(field);
    if (n > 0) add({field, position, BufferShape::kVariadicSizes, Origin::kMade, placement_.sizes_on_host, n * 8});
  }

  void place_slots(int32_t field, int32_t position, BufferShape shape) {
    const auto& node = plan_[field];
    const auto& type = tree_[field].type;
    if (shape == BufferShape::kBytes) {
      const auto& bytes = plan_.refs(field).bytes;
      if (bytes.count > 0) copy(field, position, shape, bytes.first, bytes.count);
      return;
    }
    if (shape == BufferShape::kValidity) {
      const bool is_needed = placement_.whole ? source(field, position) != nullptr : array_.has_validity(field);
      if (is_needed && node.slots.count > 0) place_bits(field, position, shape, 1);
      return;
    }
    if (node.slots.count == 0) {
      // Readers of offsets expect one entry even in an empty array.
      if (buffer_role(shape) == ARROWDEVICE_ROLE_OFFSETS) make(field, position, shape, type.info().offset_bytes);
      return;
    }
    if (shape == BufferShape::kValues && type.bit_width % 8 != 0) {
      place_bits(field, position, shape, type.bit_width);
      return;
    }
    const int64_t begin = shape == BufferShape::kOffsets ? buffer_bytes_before(type, node.slots.first)
                                                         : buffer_bytes(type, shape, node.slots.first);
    const int64_t size = buffer_bytes(type, shape, node.slots.count);
    if (size == 0) return;
    if (is_rewritten(field, shape)) {
      make(field, position, shape, size);
    } else if (shape == BufferShape::kOffsets && plan_.refs(field).base > 0) {
      OutputBuffer buffer = copied(field, position, shape, begin, size);
      buffer.origin = Origin::kCopiedThenAdjusted;
      add(buffer);
    } else {
      copy(field, position, shape, begin, size);
    }
  }

  // Returns the offset of a slot in an offsets buffer. buffer_bytes() counts one more entry than slots, which must not
  // be counted here.
  static int64_t buffer_bytes_before(const schema::Type& type, int64_t slots) {
    return checked_mul(slots, type.info().offset_bytes);
  }

  bool is_rewritten(int32_t field, BufferShape shape) const {
    switch (shape) {
      case BufferShape::kOffsets:
      case BufferShape::kSlotOffsets:
      case BufferShape::kSlotSizes:
      case BufferShape::kViews: return plan_[field].is_rebased;
      case BufferShape::kValues: return plan_.has_references(field) && plan_.refs(field).run_ends != nullptr;
      default: return false;
    }
  }

  void place_bits(int32_t field, int32_t position, BufferShape shape, int64_t bit_width) {
    const auto& node = plan_[field];
    const int64_t first = checked_mul(node.slots.first, bit_width);
    const int64_t bits = checked_mul(node.slots.count, bit_width);
    const int64_t size = bytes_for_bits(bits);
    if (size == 0) return;
    if (first % 8 == 0) {
      copy(field, position, shape, first / 8, size);
    } else if (placement_.source_on_host) {
      make(field, position, shape, size);
    } else {
      OutputBuffer buffer = copied(field, position, shape, first / 8, bytes_for_bits(first % 8 + bits));
      buffer.origin = Origin::kCopiedThenAdjusted;
      buffer.size = size;
      add(buffer);
    }
  }

  OutputBuffer copied(int32_t field, int32_t position, BufferShape shape, int64_t begin, int64_t size) const {
    OutputBuffer buffer{field, position, shape, Origin::kCopied, false, size};
    buffer.source = source(field, position);
    buffer.source_offset = begin;
    buffer.source_bytes = size;
    return buffer;
  }

  void copy(int32_t field, int32_t position, BufferShape shape, int64_t begin, int64_t size) {
    add(copied(field, position, shape, begin, size));
  }

  void make(int32_t field, int32_t position, BufferShape shape, int64_t size) {
    add({field, position, shape, Origin::kMade, false, size});
  }

  void add(OutputBuffer buffer) {
    auto& end = buffer.on_host ? placed_.host_bytes : placed_.device_bytes;
    buffer.offset = align_up(end, buffer.on_host ? kPaddedTo : placement_.alignment);
    end = checked_add(buffer.offset, buffer.room());
    placed_.needs_adjusting |= buffer.origin == Origin::kCopiedThenAdjusted;
    placed_.buffers.push_back(buffer);
  }

  const schema::Binding& array_;
  const schema::Tree& tree_;
  const Plan& plan_;
  const Placement& placement_;
  PlacedBuffers placed_;
};

}  // namespace

PlacedBuffers place_buffers(const schema::Binding& array, const Plan& plan, const Placement& placement,
                            std::pmr::memory_resource* memory) {
  return Placer(array, plan, placement, memory).run();
}

}  // namespace arrowdevice::transfer
