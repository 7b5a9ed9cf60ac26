// SPDX-License-Identifier: Apache-2.0
// Materializes and adjusts buffers of a copy on the CPU: shifted bits, rebased offsets and views, clipped run ends.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

#include "transfer/bits.h"
#include "transfer/placement.h"

namespace arrowdevice::transfer {
namespace {

using schema::BufferShape;

// Loops over plain arrays of one width, so that the compiler vectorizes the loop. Memory need not be aligned.
template <typename Index>
void rebase_offsets(const uint8_t* from, int64_t n, int64_t base, uint8_t* to) noexcept {
  for (int64_t i = 0; i < n; ++i) {
    Index value;
    std::memcpy(&value, from + i * int64_t{sizeof value}, sizeof value);
    // The slots before the copy's own rows may hold any values.
    value = value < static_cast<Index>(base) ? Index{0} : static_cast<Index>(value - static_cast<Index>(base));
    std::memcpy(to + i * int64_t{sizeof value}, &value, sizeof value);
  }
}

void make_list_view(const Node& node, const References& refs, BufferShape shape, int width, uint8_t* out) {
  const auto& index = refs.index;
  for (int64_t row = 0; row < node.slots.rows(); ++row) {
    const int64_t size = index.validity.is_valid(row) ? load_index(index.view_sizes, row, width) : 0;
    int64_t value = size;
    if (shape == BufferShape::kSlotOffsets) {
      value = size > 0 ? load_index(index.view_offsets, row, width) - refs.base : 0;
    }
    store_index(out, node.slots.leading_slots + row, width, value);
  }
}

void make_union_offsets(const schema::Binding& array, const Plan& plan, int32_t field, uint8_t* out) {
  const auto& node = plan[field];
  const auto& index = plan.refs(field).index;
  const auto& described = array.tree()[field];
  const auto& children = array.tree().union_map(described);
  for (int64_t slot = 0; slot < node.slots.count; ++slot) {
    const int8_t child = union_child(index.type_ids[slot], children);
    int64_t offset = 0;
    if (child >= 0) {
      const auto& needed = plan.refs(described.first_child + child).in_union;
      offset = load_index(index.union_offsets, slot, 4) - needed.first;
      if (offset < 0 || offset >= needed.count) offset = 0;  // slots before the rows may hold any values
    }
    store_index(out, slot, 4, offset);
  }
}

// Writes rebased views. The plan has checked every view, but other code may have changed the memory meanwhile, so this
// function checks the values that it uses.
void make_views(const schema::Binding& array, const Plan& plan, int32_t field, uint8_t* out) {
  const auto& node = plan[field];
  const auto& refs = plan.refs(field);
  const auto n_variadic = static_cast<uint64_t>(array.n_variadic(field));
  for (int64_t row = 0; row < node.slots.rows(); ++row) {
    BinaryView view{};
    if (refs.index.validity.is_valid(row)) {
      std::memcpy(&view, refs.index.views + row * int64_t{sizeof view}, sizeof view);
      if (!view.is_inline()) {
        const auto target = view_target(view);
        const bool is_there = static_cast<uint64_t>(target.buffer) < n_variadic;
        const auto needed =
            is_there ? plan.variadic[static_cast<size_t>(refs.variadic + target.buffer)].needed : Extent{};
        const int64_t offset = target.offset - needed.first;
        if (!is_there || offset < 0 || view.size > needed.count - offset) {
          array.refuse(field, "the view of slot " + std::to_string(row) + " changed while it was copied");
        }
        set_view_offset(view, static_cast<int32_t>(offset));
      }
    }
    std::memcpy(out + (node.slots.leading_slots + row) * int64_t{sizeof view}, &view, sizeof view);
  }
}

void make_run_ends(const Node& node, const References& refs, int width, uint8_t* out) {
  const int64_t first = refs.runs_of.first;
  const int64_t last = first + refs.runs_of.count;
  for (int64_t run = 0; run < node.slots.count; ++run) {
    // Clamped before the subtraction, because the search has not visited all runs and they may end anywhere.
    const int64_t end = std::clamp(load_index(refs.run_ends, run, width), first, last);
    store_index(out, run, width, end - first);
  }
}

void make_sizes(const schema::Binding& array, const Plan& plan, int32_t field, uint8_t* out) {
  const int64_t n = array.n_variadic(field);
  for (int64_t i = 0; i < n; ++i) {
    store_index(out, i, 8, plan.variadic[static_cast<size_t>(plan.refs(field).variadic + i)].needed.count);
  }
}

int64_t bits_a_slot(const schema::Type& type, BufferShape shape) {
  return shape == BufferShape::kValidity ? 1 : type.bit_width;
}

}  // namespace

void rebase_offsets(const uint8_t* from, int64_t n, int width, int64_t base, uint8_t* to) noexcept {
  if (width == 4) {
    rebase_offsets<int32_t>(from, n, base, to);
  } else {
    rebase_offsets<int64_t>(from, n, base, to);
  }
}

void write_buffer(const schema::Binding& array, const Plan& plan, const OutputBuffer& buffer, uint8_t* out) {
  const auto& node = plan[buffer.field];
  const auto& type = array.tree()[buffer.field].type;
  if (buffer.shape == BufferShape::kVariadicSizes) return make_sizes(array, plan, buffer.field, out);
  if (node.slots.count == 0 || node.slots.leading_slots > 0) std::memset(out, 0, static_cast<size_t>(buffer.size));
  if (node.slots.count == 0) return;
  switch (buffer.shape) {
    case BufferShape::kOffsets:
      return rebase_offsets(plan.refs(buffer.field).index.list_offsets, node.slots.count + 1, type.info().offset_bytes,
                            plan.refs(buffer.field).base, out);
    case BufferShape::kSlotOffsets:
      if (type.info().refers == schema::ReferenceKind::kTypeIds)
        return make_union_offsets(array, plan, buffer.field, out);
      return make_list_view(node, plan.refs(buffer.field), buffer.shape, type.info().offset_bytes, out);
    case BufferShape::kSlotSizes:
      return make_list_view(node, plan.refs(buffer.field), buffer.shape, type.info().offset_bytes, out);
    case BufferShape::kViews: return make_views(array, plan, buffer.field, out);
    case BufferShape::kValues:
      if (plan.has_references(buffer.field) && plan.refs(buffer.field).run_ends != nullptr) {
        return make_run_ends(node, plan.refs(buffer.field), static_cast<int>(type.bit_width / 8), out);
      }
      [[fallthrough]];
    case BufferShape::kValidity: {
      const auto* bits = static_cast<const uint8_t*>(array.buffers(buffer.field)[static_cast<size_t>(buffer.position)]);
      const int64_t width = bits_a_slot(type, buffer.shape);
      return copy_bits(bits, node.slots.first * width, node.slots.count * width, out);
    }
    default: assert(false && "this buffer is copied");
  }
}

void adjust_in_place(const Plan& plan, const schema::Type& type, const OutputBuffer& buffer, uint8_t* bytes) {
  const auto& node = plan[buffer.field];
  if (buffer.shape == BufferShape::kOffsets) {
    rebase_offsets(bytes, node.slots.count + 1, type.info().offset_bytes, plan.refs(buffer.field).base, bytes);
  } else {
    const int64_t width = bits_a_slot(type, buffer.shape);
    copy_bits(bytes, node.slots.first * width % 8, node.slots.count * width, bytes);
    std::memset(bytes + buffer.size, 0, static_cast<size_t>(buffer.room() - buffer.size));
  }
}

}  // namespace arrowdevice::transfer
