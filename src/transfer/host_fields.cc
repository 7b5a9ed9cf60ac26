// SPDX-License-Identifier: Apache-2.0
#include "transfer/host_fields.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "schema/format.h"
#include "schema/tree.h"
#include "transfer/extents.h"

namespace arrowdevice::transfer {
namespace {

using schema::Layout;
using schema::Type;

// Rows of a field that its parent needs. `least_length` is the length that the field must have for all of its parent.
struct Needed {
  int64_t skip;
  int64_t rows;
  int64_t least_length;
};

class Measurement {
 public:
  Measurement(HostFields& fields, HostTotals& totals) noexcept : fields_(fields), totals_(totals) {}

  [[gnu::noinline, gnu::hot]] bool add(const ArrowSchema* schema, const ArrowArray* array, const Needed& needed,
                                       int depth) noexcept {
    if (!fits(schema, array, needed)) return false;
    const Type* const common = schema::common_type(schema->format);
    return common != nullptr ? add(*schema, *array, *common, needed, depth) : add_other(*schema, *array, needed, depth);
  }

 private:
  [[gnu::noinline, gnu::hot]] bool add_other(const ArrowSchema& schema, const ArrowArray& array, const Needed& needed,
                                             int depth) noexcept {
    Type room;
    const Type* const type = schema::list_or_wide_type(schema.format, &room);
    return type != nullptr && add(schema, array, *type, needed, depth);
  }

  [[gnu::hot]] bool add(const ArrowSchema& schema, const ArrowArray& array, const Type& type, const Needed& needed,
                        int depth) noexcept {
    HostField* const field = fields_.add();
    if (field == nullptr) return false;
    *field = {};
    field->rows = needed.rows;
    field->first_bit = array.offset + needed.skip;
    ++totals_.shape.nodes;
    totals_.shape.buffers += array.n_buffers;
    if (!add_validity(array, needed, *field)) return false;
    switch (type.layout) {
      case Layout::kFixed: return array.n_buffers == 2 && array.n_children == 0 && add_values(array, type, *field);
      case Layout::kBinary:
      case Layout::kLargeBinary:
        return array.n_buffers == 3 && array.n_children == 0 && add_binary(array, type, *field);
      case Layout::kList:
      case Layout::kLargeList:
        return array.n_buffers == 2 && array.n_children == 1 && add_list(schema, array, type, *field, depth);
      case Layout::kStruct: return array.n_buffers == 1 && add_struct(schema, array, needed, *field, depth);
      default: return false;
    }
  }

  static constexpr uint64_t kMostSlots = schema::kMostPlainSlots;
  // A copy with more rows needs the engine. The bytes of so many rows in all fields cannot overflow.
  static constexpr int64_t kMostRows = kept_blocks::kLargest * 8;

  bool fits(const ArrowSchema* schema, const ArrowArray* array, const Needed& needed) const noexcept {
    return schema != nullptr && schema->release != nullptr && schema->format != nullptr &&
           schema->dictionary == nullptr && array != nullptr && array->release != nullptr &&
           array->dictionary == nullptr && array->buffers != nullptr &&
           static_cast<uint64_t>(array->length) <= kMostSlots && static_cast<uint64_t>(array->offset) <= kMostSlots &&
           needed.rows <= kMostRows && array->length >= needed.least_length && array->null_count >= -1 &&
           array->null_count <= array->length && array->n_children == schema->n_children &&
           fields_.size() < schema::kMostSharedNodes;
  }

  bool add_validity(const ArrowArray& array, const Needed& needed, HostField& field) noexcept {
    if (array.n_buffers < 1) return false;
    const auto* const bitmap = static_cast<const uint8_t*>(array.buffers[0]);
    if (array.null_count == 0 || bitmap == nullptr) return array.null_count <= 0;
    if (needed.rows == 0) return true;
    const bool is_all = needed.skip == 0 && needed.rows == array.length;
    field.null_count = is_all ? array.null_count : array.null_count == array.length ? needed.rows : -1;
    field.validity = bitmap;
    totals_.bytes += padded(bytes_for_bits(needed.rows));
    return true;
  }

  // Returns a buffer that may be NULL only if the array has no slots.
  static bool find(const ArrowArray& array, int position, const uint8_t** out) noexcept {
    *out = static_cast<const uint8_t*>(array.buffers[position]);
    return *out != nullptr || array.length == 0;
  }

  bool add_values(const ArrowArray& array, const Type& type, HostField& field) noexcept {
    const uint8_t* values = nullptr;
    if (!find(array, 1, &values)) return false;
    if ((type.bit_width & 7) != 0) {
      field.kind = HostField::Values::kBits;
      field.bytes = bytes_for_bits(field.rows);
      field.values = values;
    } else {
      if (type.bit_width > schema::kWidestPlainBits) return false;
      const int64_t width = type.bit_width >> 3;
      field.kind = HostField::Values::kBytes;
      field.bytes = field.rows * width;
      field.values = field.bytes > 0 ? values + field.first_bit * width : nullptr;
    }
    totals_.bytes += padded(field.bytes);
    return true;
  }

  // Finds the range that the offsets of the rows refer to.
  bool add_offsets(const ArrowArray& array, const Type& type, int64_t length, HostField& field,
                   Extent& range) noexcept {
    const int width = type.info().offset_bytes;
    const uint8_t* offsets = nullptr;
    if (!find(array, 1, &offsets)) return false;
    field.offset_bytes = static_cast<uint8_t>(width);
    if (field.rows == 0) {
      totals_.bytes += kPaddedTo;  // readers expect one offset
      return true;
    }
    field.offsets = offsets + field.first_bit * width;
    totals_.bytes += padded((field.rows + 1) * width);
    range.first = load_index(field.offsets, 0, width);
    range.count = load_index(field.offsets, field.rows, width) - range.first;
    return range.first >= 0 && range.count >= 0 && range.first <= length && range.count <= length - range.first;
  }

  bool add_binary(const ArrowArray& array, const Type& type, HostField& field) noexcept {
    Extent range;
    if (!add_offsets(array, type, INT64_MAX, field, range)) return false;
    const auto* const bytes = static_cast<const uint8_t*>(array.buffers[2]);
    if (range.count > 0 && bytes == nullptr) return false;
    field.kind = HostField::Values::kBytes;
    field.bytes = range.count;
    field.values = range.count > 0 ? bytes + range.first : nullptr;
    if (static_cast<uint64_t>(range.count) > kMostSlots) return false;
    totals_.bytes += padded(range.count);
    return true;
  }

  bool add_list(const ArrowSchema& schema, const ArrowArray& array, const Type& type, HostField& field,
                int depth) noexcept {
    if (schema.children == nullptr || array.children == nullptr || array.children[0] == nullptr) return false;
    Extent range;
    if (!add_offsets(array, type, array.children[0]->length, field, range)) return false;
    return add_children(schema, array, {range.first, range.count, range.first + range.count}, field, depth);
  }

  bool add_struct(const ArrowSchema& schema, const ArrowArray& array, const Needed& needed, HostField& field,
                  int depth) noexcept {
    return add_children(schema, array, {array.offset + needed.skip, needed.rows, array.offset + array.length}, field,
                        depth);
  }

  [[gnu::always_inline]] bool add_children(const ArrowSchema& schema, const ArrowArray& array, const Needed& needed,
                                           HostField& field, int depth) noexcept {
    const int64_t n = array.n_children;
    if (n < 0 || n > schema::kMostSharedNodes || depth == schema::kDeepest || needed.rows > kMostRows) return false;
    if (n > 0 && (schema.children == nullptr || array.children == nullptr)) return false;
    field.n_children = static_cast<int32_t>(n);  // `field` is invalid behind the next line
    if (!fields_.reserve(fields_.size() + n)) return false;
    totals_.shape.children += n;
    int64_t numbers = 0;
    int64_t bytes = 0;  // of the numbers
    for (int64_t i = 0; i < n; ++i) {
      if (add_number(schema.children[i], array.children[i], needed, bytes)) {
        ++numbers;
      } else if (!add(schema.children[i], array.children[i], needed, depth + 1)) {
        return false;
      }
    }
    totals_.shape.nodes += numbers;
    totals_.shape.buffers += 2 * numbers;
    totals_.bytes += bytes;
    return true;
  }

  // Adds most columns by a short form of add(): numbers without nulls whose format is a letter. Returns
  // false for others.
  [[gnu::always_inline]] bool add_number(const ArrowSchema* schema, const ArrowArray* array, const Needed& needed,
                                         int64_t& bytes) noexcept {
    if (schema == nullptr || array == nullptr || schema->release == nullptr || array->release == nullptr ||
        schema->format == nullptr || array->buffers == nullptr || array->n_buffers != 2) {
      return false;
    }
    if ((schema->n_children | array->n_children) != 0 || schema->dictionary != nullptr ||
        array->dictionary != nullptr) {
      return false;
    }
    const int64_t width = schema::kBytesByLetter[static_cast<uint8_t>(schema->format[0])];
    if (width == 0 || schema->format[1] != '\0') return false;
    const auto* const values = static_cast<const uint8_t*>(array->buffers[1]);
    if (values == nullptr || static_cast<uint64_t>(array->length | array->offset) >= kMostSlots ||
        array->length < needed.least_length) {
      return false;
    }
    if (array->null_count != 0 && (array->null_count != -1 || array->buffers[0] != nullptr)) return false;
    HostField* const field = fields_.add();
    if (field == nullptr) return false;
    const int64_t first = array->offset + needed.skip;
    *field = {.values = values + first * width,
              .bytes = needed.rows * width,
              .rows = needed.rows,
              .first_bit = first,
              .kind = HostField::Values::kBytes};
    bytes += padded(field->bytes);
    return true;
  }

  HostFields& fields_;
  HostTotals& totals_;
};

}  // namespace

[[gnu::hot]] bool HostFields::reserve(int64_t fields) noexcept {
  if (fields <= capacity_) return true;
  constexpr int64_t kMostInBlock = int64_t{64} << 10;
  int64_t bytes = std::max(fields, 2 * int64_t{capacity_}) * static_cast<int64_t>(sizeof(HostField));
  // Columns may have children, so a large request gets the largest block of its kind. Growing would copy all fields.
  if (bytes > kMostInBlock / 2) bytes = std::max(bytes, kMostInBlock);
  const auto taken = kept_blocks::take(bytes);
  if (taken.block == nullptr) return false;
  auto* const moved = static_cast<HostField*>(taken.block);
  std::memcpy(taken.block, fields_, static_cast<size_t>(size_) * sizeof(HostField));
  if (larger_.block != nullptr) kept_blocks::give_back(larger_);
  larger_ = taken;
  fields_ = moved;
  capacity_ = static_cast<int32_t>(taken.capacity / static_cast<int64_t>(sizeof(HostField)));
  return true;
}

[[gnu::hot]] bool measure(const ArrowSchema& schema, const ArrowArray& array, HostFields& fields,
                          HostTotals& totals) noexcept {
  return Measurement(fields, totals).add(&schema, &array, {0, array.length, array.length}, 1);
}

}  // namespace arrowdevice::transfer
