// SPDX-License-Identifier: Apache-2.0
#include "transfer/two_pass_copy.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/checked.h"
#include "base/trace.h"
#include "schema/format.h"
#include "schema/tree.h"
#include "transfer/bits.h"
#include "transfer/extents.h"
#include "transfer/placement.h"

namespace arrowdevice::transfer {
namespace {

using schema::Layout;
using schema::Type;

constexpr int64_t padded(int64_t bytes) noexcept { return (bytes + kPaddedTo - 1) & -kPaddedTo; }

// Rows of a field that its parent needs. `least_length` is the length that the field must have for all of its parent.
struct Needed {
  int64_t skip;
  int64_t rows;
  int64_t least_length;
};

class Measurement {
 public:
  Measurement(HostFields& fields, HostTotals& totals) noexcept : fields_(fields), totals_(totals) {}

  [[gnu::noinline]] bool add(const ArrowSchema* schema, const ArrowArray* array, const Needed& needed,
                             int depth) noexcept {
    if (!fits(schema, array, needed)) return false;
    const Type* const common = schema::common_type(schema->format);
    return common != nullptr ? add(*schema, *array, *common, needed, depth) : add_other(*schema, *array, needed, depth);
  }

 private:
  [[gnu::noinline]] bool add_other(const ArrowSchema& schema, const ArrowArray& array, const Needed& needed,
                                   int depth) noexcept {
    Type room;
    const Type* const type = schema::list_or_wide_type(schema.format, &room);
    return type != nullptr && add(schema, array, *type, needed, depth);
  }

  bool add(const ArrowSchema& schema, const ArrowArray& array, const Type& type, const Needed& needed,
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

class Writer {
 public:
  Writer(const HostFields& fields, array::Output& output) noexcept
      : next_(fields.begin()), output_(output), end_(output.bytes()) {}

  ArrowArray& write_field() noexcept {
    const HostField& field = *next_++;
    const bool has_values = field.kind != HostField::Values::kNone;
    ArrowArray& node = output_.add_node(1 + (field.offset_bytes != 0) + has_values, field.n_children);
    const void** buffer = node.buffers;
    node.length = field.rows;
    node.null_count = field.null_count;
    *buffer++ = field.validity == nullptr ? nullptr : write_validity(field, node);
    if (field.offset_bytes != 0) *buffer++ = write_offsets(field);
    if (field.kind == HostField::Values::kBytes) {
      *buffer = write_bytes(field.values, field.bytes);
    } else if (has_values) {
      *buffer = write_bits(field.values, field);
    }
    for (int32_t i = 0; i < field.n_children; ++i) {
      node.children[i] = is_number(*next_) ? &write_number() : &write_field();
    }
    return node;
  }

 private:
  static bool is_number(const HostField& field) noexcept {
    return field.kind == HostField::Values::kBytes && field.validity == nullptr && field.offset_bytes == 0;
  }

  ArrowArray& write_number() noexcept {
    const HostField& field = *next_++;
    ArrowArray& node = output_.add_node(2, 0);
    node.length = field.rows;
    node.buffers[0] = nullptr;
    node.buffers[1] = write_bytes(field.values, field.bytes);
    return node;
  }

  // Returns room for a buffer. Clears its last part before it is written, which is the same work for every size.
  uint8_t* add_buffer(int64_t size) noexcept {
    uint8_t* const buffer = end_;
    end_ += padded(size);
    std::memset(end_ - kPaddedTo, 0, kPaddedTo);
    return buffer;
  }

  const uint8_t* write_bytes(const uint8_t* source, int64_t size) noexcept {
    if (size == 0) return nullptr;
    uint8_t* const buffer = add_buffer(size);
    std::memcpy(buffer, source, static_cast<size_t>(size));
    return buffer;
  }

  const uint8_t* write_bits(const uint8_t* bits, const HostField& field) noexcept {
    const int64_t size = bytes_for_bits(field.rows);
    if (size == 0) return nullptr;
    if ((field.first_bit & 7) == 0) return write_bytes(bits + (field.first_bit >> 3), size);
    uint8_t* const buffer = add_buffer(size);
    copy_bits(bits, field.first_bit, field.rows, buffer);
    return buffer;
  }

  const uint8_t* write_validity(const HostField& field, ArrowArray& node) noexcept {
    const uint8_t* const bits = write_bits(field.validity, field);
    if (node.null_count < 0) node.null_count = field.rows - count_bits(bits, 0, field.rows);
    return bits;
  }

  const uint8_t* write_offsets(const HostField& field) noexcept {
    if (field.offsets == nullptr) return add_buffer(field.offset_bytes);
    const int64_t n = field.rows + 1;
    const int64_t base = load_index(field.offsets, 0, field.offset_bytes);
    if (base <= 0) return write_bytes(field.offsets, n * field.offset_bytes);
    uint8_t* const buffer = add_buffer(n * field.offset_bytes);
    rebase_offsets(field.offsets, n, field.offset_bytes, base, buffer);
    return buffer;
  }

  const HostField* next_;
  array::Output& output_;
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

bool HostFields::reserve(int64_t fields) noexcept {
  if (fields <= capacity_) return true;
  const auto taken =
      kept_blocks::take(std::max(fields, 2 * int64_t{capacity_}) * static_cast<int64_t>(sizeof(HostField)));
  if (taken.block == nullptr) return false;
  auto* const moved = static_cast<HostField*>(taken.block);
  std::memcpy(taken.block, fields_, static_cast<size_t>(size_) * sizeof(HostField));
  if (larger_.block != nullptr) kept_blocks::give_back(larger_);
  larger_ = taken;
  fields_ = moved;
  capacity_ = static_cast<int32_t>(taken.capacity / static_cast<int64_t>(sizeof(HostField)));
  return true;
}

bool measure(const ArrowSchema& schema, const ArrowArray& array, HostFields& fields, HostTotals& totals) noexcept {
  return Measurement(fields, totals).add(&schema, &array, {0, array.length, array.length}, 1);
}

void write(const HostFields& fields, const HostTotals& totals, ArrowArray* out) {
  array::Output output(totals.shape, totals.bytes);
  Writer(fields, output).write_field();
  output.publish(nullptr, out);
}

bool copy_in_two_passes(const ArrowDeviceArray& array, const ArrowSchema& schema, const device::Device& to,
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
