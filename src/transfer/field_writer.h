// SPDX-License-Identifier: Apache-2.0
// The second of two passes: writes the bytes and the structs of recorded fields.
#pragma once

#include <cstdint>
#include <cstring>

#include "array/output.h"
#include "base/checked.h"
#include "transfer/bits.h"
#include "transfer/extents.h"
#include "transfer/host_fields.h"
#include "transfer/placement.h"

namespace arrowdevice::transfer {

// Room for a buffer: where it is written, and the pointer to it in the struct.
struct BufferRoom {
  uint8_t* bytes;
  const void* pointer;
};

// Writes fields in their order. `Rooms` has these functions:
//   BufferRoom add(int64_t size)  returns room for `size` > 0 bytes, whose padding is zeros
//   void descend(), void ascend() are called before and after the children of a field
template <typename Rooms>
class FieldWriter {
 public:
  FieldWriter(const HostFields& fields, array::Output& output, Rooms rooms)
      : next_(fields.begin()), output_(output), rooms_(rooms) {}

  [[gnu::hot]] ArrowArray& write_field() {
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
    if (field.n_children == 0) return node;
    rooms_.descend();
    for (int32_t i = 0; i < field.n_children; ++i) {
      node.children[i] = is_number(*next_) ? &write_number() : &write_field();
    }
    rooms_.ascend();
    return node;
  }

 private:
  static bool is_number(const HostField& field) noexcept {
    return field.kind == HostField::Values::kBytes && field.validity == nullptr && field.offset_bytes == 0;
  }

  ArrowArray& write_number() {
    const HostField& field = *next_++;
    ArrowArray& node = output_.add_node(2, 0);
    node.length = field.rows;
    node.buffers[0] = nullptr;
    node.buffers[1] = write_bytes(field.values, field.bytes);
    return node;
  }

  const void* write_bytes(const uint8_t* source, int64_t size) {
    if (size == 0) return nullptr;
    const BufferRoom room = rooms_.add(size);
    std::memcpy(room.bytes, source, static_cast<size_t>(size));
    return room.pointer;
  }

  const void* write_bits(const uint8_t* bits, const HostField& field) {
    const int64_t size = bytes_for_bits(field.rows);
    if (size == 0) return nullptr;
    if ((field.first_bit & 7) == 0) return write_bytes(bits + (field.first_bit >> 3), size);
    const BufferRoom room = rooms_.add(size);
    copy_bits(bits, field.first_bit, field.rows, room.bytes);
    return room.pointer;
  }

  const void* write_validity(const HostField& field, ArrowArray& node) {
    if (node.null_count < 0) node.null_count = field.rows - count_bits(field.validity, field.first_bit, field.rows);
    return write_bits(field.validity, field);
  }

  const void* write_offsets(const HostField& field) {
    const int64_t size = field.size_of_offsets();
    const int64_t base = field.offsets == nullptr ? 0 : load_index(field.offsets, 0, field.offset_bytes);
    if (field.offsets != nullptr && base <= 0) return write_bytes(field.offsets, size);
    const BufferRoom room = rooms_.add(size);
    if (field.offsets == nullptr) {
      std::memset(room.bytes, 0, static_cast<size_t>(size));
    } else {
      rebase_offsets(field.offsets, field.rows + 1, field.offset_bytes, base, room.bytes);
    }
    return room.pointer;
  }

  const HostField* next_;
  array::Output& output_;
  Rooms rooms_;
};

}  // namespace arrowdevice::transfer
