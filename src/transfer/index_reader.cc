// SPDX-License-Identifier: Apache-2.0
#include "transfer/index_reader.h"

#include "base/checked.h"

namespace arrowdevice::transfer {

using schema::BufferShape;
using schema::ReferenceKind;

namespace {

constexpr int64_t kViewBytes = sizeof(BinaryView);
constexpr int64_t kUnionOffsetBytes = 4;
constexpr int64_t kVariadicSizeBytes = 8;

Reading done_if(bool all_there) { return all_there ? Reading::kDone : Reading::kPending; }

}  // namespace

const uint8_t* IndexReader::entries(const void* buffer, int64_t first, int64_t count, int64_t width) {
  return contents_.find(buffer, checked_mul(first, width), checked_mul(count, width));
}

bool IndexReader::find_validity(int32_t field, int64_t first, int64_t count, Validity* out) {
  *out = {};
  if (!array_.has_validity(field)) return true;
  const auto* bits = contents_.find(array_.buffers(field)[0], first / 8, bytes_for_bits(first % 8 + count));
  *out = {bits, first % 8};
  return bits != nullptr;
}

bool IndexReader::is_worth_reading(int32_t field, const Slots& slots, int64_t entries, int64_t width) const {
  if (contents_.in_place() || checked_mul(entries, width) <= kLargestRebasedIndex) return true;
  const bool is_part = slots.first_row() > 0 || slots.rows() < array_[field].length;
  return target_on_host_ && is_part;
}

Reading IndexReader::read(int32_t field, const Slots& slots, Index* out) {
  switch (array_.tree()[field].type.info().refers) {
    case ReferenceKind::kOffsets: return read_offsets(field, slots, out);
    case ReferenceKind::kListViews: return read_list_view(field, slots, out);
    case ReferenceKind::kTypeIds: return read_dense_union(field, slots, out);
    case ReferenceKind::kBinaryViews: return read_binary_view(field, slots, out);
    case ReferenceKind::kRunEnds: return read_run_ends(field, slots, out);
    case ReferenceKind::kNone:
    case ReferenceKind::kIdentity:
    case ReferenceKind::kScaled: break;
  }
  return Reading::kDone;
}

// Adds all pending reads of a field before it returns kPending, so that they are read back in one batch.
Reading IndexReader::read_offsets(int32_t field, const Slots& slots, Index* out) {
  const int width = array_.tree()[field].type.info().offset_bytes;
  const void* const offsets = array_.buffer(field, BufferShape::kOffsets);
  const bool is_read_whole =
      contents_.in_place() || (!target_on_host_ && is_worth_reading(field, slots, slots.count + 1, width));
  if (is_read_whole) {
    out->list_offsets = entries(offsets, slots.first, slots.count + 1, width);
    if (out->list_offsets == nullptr) return Reading::kPending;
    out->begin = load_index(out->list_offsets, slots.leading_slots, width);
    out->end = load_index(out->list_offsets, slots.count, width);
    return Reading::kDone;
  }
  const auto* begin = entries(offsets, slots.first_row(), 1, width);
  const auto* end = entries(offsets, slots.first + slots.count, 1, width);
  if (begin == nullptr || end == nullptr) return Reading::kPending;
  out->begin = load_index(begin, 0, width);
  out->end = load_index(end, 0, width);
  return Reading::kDone;
}

Reading IndexReader::read_last_offset(int32_t field, int64_t slots, int64_t* out) {
  const int width = array_.tree()[field].type.info().offset_bytes;
  const auto* end = entries(array_.buffer(field, BufferShape::kOffsets), slots, 1, width);
  if (end == nullptr) return Reading::kPending;
  *out = load_index(end, 0, width);
  return Reading::kDone;
}

Reading IndexReader::read_list_view(int32_t field, const Slots& slots, Index* out) {
  const int width = array_.tree()[field].type.info().offset_bytes;
  if (!is_worth_reading(field, slots, slots.rows(), width)) return Reading::kTooLarge;
  const bool has_validity = find_validity(field, slots.first_row(), slots.rows(), &out->validity);
  out->view_offsets = entries(array_.buffer(field, BufferShape::kSlotOffsets), slots.first_row(), slots.rows(), width);
  out->view_sizes = entries(array_.buffer(field, BufferShape::kSlotSizes), slots.first_row(), slots.rows(), width);
  return done_if(has_validity && out->view_offsets != nullptr && out->view_sizes != nullptr);
}

Reading IndexReader::read_dense_union(int32_t field, const Slots& slots, Index* out) {
  if (!is_worth_reading(field, slots, slots.count, kUnionOffsetBytes)) return Reading::kTooLarge;
  out->type_ids = entries(array_.buffer(field, BufferShape::kTypeIds), slots.first, slots.count, 1);
  out->union_offsets =
      entries(array_.buffer(field, BufferShape::kSlotOffsets), slots.first, slots.count, kUnionOffsetBytes);
  return done_if(out->type_ids != nullptr && out->union_offsets != nullptr);
}

Reading IndexReader::read_binary_view(int32_t field, const Slots& slots, Index* out) {
  if (array_.n_variadic(field) == 0) return Reading::kDone;
  const bool has_sizes = variadic_sizes(field) != nullptr;
  if (!is_worth_reading(field, slots, slots.rows(), kViewBytes))
    return has_sizes ? Reading::kTooLarge : Reading::kPending;
  const bool has_validity = find_validity(field, slots.first_row(), slots.rows(), &out->validity);
  out->views = entries(array_.buffer(field, BufferShape::kViews), slots.first_row(), slots.rows(), kViewBytes);
  return done_if(has_sizes && has_validity && out->views != nullptr);
}

Reading IndexReader::read_run_ends(int32_t field, const Slots& slots, Index* out) {
  const int32_t child = array_.tree()[field].first_child;
  const auto& run_ends = array_[child];
  const int64_t width = array_.tree()[child].type.bit_width / 8;
  if (!is_worth_reading(field, slots, run_ends.length, width)) return Reading::kTooLarge;
  out->run_ends = entries(array_.buffer(child, BufferShape::kValues), run_ends.offset, run_ends.length, width);
  return done_if(out->run_ends != nullptr);
}

const uint8_t* IndexReader::variadic_sizes(int32_t field) {
  const void* const sizes = array_.buffers(field).back();
  if (sizes_on_host_) return static_cast<const uint8_t*>(sizes);
  return contents_.find(sizes, 0, checked_mul(array_.n_variadic(field), kVariadicSizeBytes));
}

}  // namespace arrowdevice::transfer
