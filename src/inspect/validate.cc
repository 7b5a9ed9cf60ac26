// SPDX-License-Identifier: Apache-2.0
#include "inspect/validate.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "array/locate.h"
#include "base/checked.h"
#include "inspect/binary_view_check.h"
#include "inspect/buffer_bounds.h"
#include "inspect/data_reader.h"
#include "inspect/text_check.h"
#include "inspect/visible_slots.h"
#include "schema/binding.h"
#include "transfer/extents.h"

namespace arrowdevice::inspect {
namespace {

using schema::BufferShape;
using schema::ReferenceKind;
using transfer::Validity;

constexpr int kUnionOffsetBytes = 4;

// Returns an index of a dictionary. A value too large for an int64_t becomes INT64_MAX, which is out of range too.
int64_t load_dictionary_index(const uint8_t* entries, int64_t position, int64_t width, bool is_signed) noexcept {
  uint64_t value = 0;
  std::memcpy(&value, entries + position * width, static_cast<size_t>(width));  // little-endian
  if (!is_signed) return value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
  const int unused = 64 - static_cast<int>(width) * 8;
  return static_cast<int64_t>(value << unused) >> unused;
}

// Returns true if none of count + 1 offsets is less than the one before it.
template <typename Offset>
bool never_decrease(const uint8_t* offsets, int64_t count) noexcept {
  bool is_right = true;
  for (int64_t i = 0; i < count; ++i) {
    Offset pair[2];
    std::memcpy(pair, offsets + i * static_cast<int64_t>(sizeof(Offset)), sizeof pair);
    is_right &= pair[0] <= pair[1];
  }
  return is_right;
}

class Validation {
 public:
  Validation(const schema::Binding& array, const DataSource& source, bool is_strict)
      : array_(array),
        places_(array, source.device),
        seen_(array, source),
        validity_(array, source),
        index_(source),
        texts_(array, source),
        views_(array, source, places_),
        is_strict_(is_strict) {}

  void run(const ArrowDeviceArray& whole) {
    // The bounds come first, because later checks read the buffers.
    for (int32_t field = 0; field < array_.tree().size(); ++field) places_.check(field, whole);
    for (int32_t field = 0; field < array_.tree().size(); ++field) {
      check_nulls(field);
      check_references(field);
    }
  }

 private:
  [[noreturn]] void refuse_slot(int32_t field, int64_t slot, const std::string& why) const {
    inspect::refuse_slot(array_, field, slot, why);
  }

  const schema::Type& type(int32_t field) const { return array_.tree()[field].type; }
  std::string_view format(int32_t field) const { return array_.tree()[field].source->format; }

  // -- nulls

  void check_nulls(int32_t field) {
    const auto& array = array_[field];
    const bool has_bitmap = validity_.has_bitmap(field);
    if (is_strict_ && !has_bitmap && array.null_count == -1 && type(field).info().has_validity)
      array_.refuse(field, "null_count is -1, not counted, and there is no validity bitmap to count in");
    if (!has_bitmap || array.length == 0) return;
    const int64_t nulls = validity_.count_nulls(field, 0, array.length);
    if (nulls > 0 && array_.is_run_ends(field))
      array_.refuse(field, "run ends have no nulls, and these have " + std::to_string(nulls));
    if (array.null_count >= 0 && array.null_count != nulls) {
      array_.refuse(field, "null_count is " + std::to_string(array.null_count) + ", and the validity bitmap has " +
                               std::to_string(nulls) + (nulls == 1 ? " null" : " nulls"));
    }
    const bool may_be_null = (array_.tree()[field].source->flags & ARROW_FLAG_NULLABLE) != 0;
    if (is_strict_ && nulls > 0 && !may_be_null && !array_.tree()[field].is_dictionary) check_hidden(field);
  }

  // Checks that all nulls of a non-nullable field are in slots that no row shows.
  void check_hidden(int32_t field) {
    in_pieces(array_[field].length, 1, [&](int64_t first, int64_t count) {
      const std::vector<bool> is_seen = seen_.find(field, first, count);
      const Validity valid = validity_.read(field, first, count);
      for (int64_t i = 0; i < count; ++i) {
        if (!valid.is_valid(i) && is_seen[static_cast<size_t>(i)]) {
          refuse_slot(field, first + i, "is null, and the field is not nullable");
        }
      }
    });
  }

  // -- references of slots

  void check_references(int32_t field) {
    if (array_.tree()[field].dictionary >= 0) check_dictionary_indices(field);
    if (array_[field].length == 0) return;
    switch (type(field).info().refers) {
      case ReferenceKind::kOffsets: return check_offsets(field);
      case ReferenceKind::kListViews: return check_list_views(field);
      case ReferenceKind::kTypeIds: return check_type_ids(field);
      case ReferenceKind::kBinaryViews: return views_.check(field);
      case ReferenceKind::kRunEnds: return check_run_ends(field);
      case ReferenceKind::kIdentity:
        if (type(field).union_map >= 0) check_type_ids(field);
        return;
      case ReferenceKind::kNone:
      case ReferenceKind::kScaled: return;
    }
  }

  void check_dictionary_indices(int32_t field) {
    const auto& array = array_[field];
    const int64_t width = type(field).bit_width / 8;
    const int64_t values = array_[array_.tree()[field].dictionary].length;
    const bool is_signed = format(field)[0] >= 'a';  // "c", "s", "i", "l"
    in_pieces(array.length, width, [&](int64_t first, int64_t count) {
      const Validity valid = validity_.read(field, first, count);
      const auto* const indices =
          index_.read({array_.buffer(field, BufferShape::kValues), (array.offset + first) * width, count * width});
      for (int64_t i = 0; i < count; ++i) {
        if (!valid.is_valid(i)) continue;
        const int64_t index = load_dictionary_index(indices, i, width, is_signed);
        if (index < 0 || index >= values) {
          refuse_slot(
              field, first + i,
              "has index " + std::to_string(index) + ", and the dictionary " + std::to_string(values) + " values");
        }
      }
    });
  }

  // Checks the offsets of lists and binaries.
  void check_offsets(int32_t field) {
    const auto& array = array_[field];
    const int width = type(field).info().offset_bytes;
    const void* const bytes = array_.buffer(field, BufferShape::kBytes);
    const bool is_list = type(field).info().n_children == 1;
    const int64_t limit = is_list ? array_[array_.tree()[field].first_child].length : data_bytes(field, bytes);
    const bool is_text = format(field) == "u" || format(field) == "U";
    in_pieces(array.length, width, [&](int64_t first, int64_t count) {
      const auto* const offsets = index_.read(
          {array_.buffer(field, BufferShape::kOffsets), checked_mul(array.offset + first, width), (count + 1) * width});
      const int64_t last = transfer::load_index(offsets, count, width);
      const bool are_right =
          transfer::load_index(offsets, 0, width) >= 0 && last <= limit &&
          (width == 4 ? never_decrease<int32_t>(offsets, count) : never_decrease<int64_t>(offsets, count));
      if (!are_right) refuse_offsets(field, first, count, offsets, limit);
      if (is_text) texts_.check(field, first, count, offsets, width, bytes);
    });
  }

  // Throws the reason for the first wrong offset of `count` slots from `first` on.
  void refuse_offsets(int32_t field, int64_t first, int64_t count, const uint8_t* offsets, int64_t limit) const {
    const int width = type(field).info().offset_bytes;
    for (int64_t i = 0, before = 0; i <= count; ++i) {
      const int64_t offset = transfer::load_index(offsets, i, width);
      if (offset < before) {
        refuse_slot(field, first + i,
                    "has offset " + std::to_string(offset) + ", less than " + std::to_string(before) + " before it");
      }
      if (offset > limit) {
        const bool is_list = type(field).info().n_children == 1;
        refuse_slot(field, first + i,
                    "has offset " + std::to_string(offset) + ", and there are " + std::to_string(limit) +
                        (is_list ? " items" : " bytes of data"));
      }
      before = offset;
    }
  }

  // Returns the number of data bytes that a binary may have. Only the driver knows it; a missing buffer has 0 bytes.
  int64_t data_bytes(int32_t field, const void* bytes) {
    if (bytes == nullptr) return 0;
    const auto& array = array_[field];
    const int width = type(field).info().offset_bytes;
    const auto* const last = index_.read(
        {array_.buffer(field, BufferShape::kOffsets), checked_mul(array.offset + array.length, width), width});
    return places_.room(bytes, transfer::load_index(last, 0, width));
  }

  void check_list_views(int32_t field) {
    const auto& array = array_[field];
    const int width = type(field).info().offset_bytes;
    const int64_t items = array_[array_.tree()[field].first_child].length;
    in_pieces(array.length, width, [&](int64_t first, int64_t count) {
      const Validity valid = validity_.read(field, first, count);
      const int64_t place = checked_mul(array.offset + first, width);
      const auto [offsets, sizes] =
          index_.read({{array_.buffer(field, BufferShape::kSlotOffsets), place, count * width},
                       {array_.buffer(field, BufferShape::kSlotSizes), place, count * width}});
      for (int64_t i = 0; i < count; ++i) {
        if (!valid.is_valid(i)) continue;
        const int64_t offset = transfer::load_index(offsets, i, width);
        const int64_t size = transfer::load_index(sizes, i, width);
        if (offset < 0 || size < 0 || size > items || offset > items - size) {
          refuse_slot(field, first + i,
                      "has offset " + std::to_string(offset) + " and size " + std::to_string(size) +
                          ", and there are " + std::to_string(items) + " items");
        }
      }
    });
  }

  // Checks the type ids of unions, and the offsets of dense unions.
  void check_type_ids(int32_t field) {
    const auto& array = array_[field];
    const auto& described = array_.tree()[field];
    const auto& children = array_.tree().union_map(described);
    const void* const offsets_buffer = array_.buffer(field, BufferShape::kSlotOffsets);
    in_pieces(array.length, kUnionOffsetBytes, [&](int64_t first, int64_t count) {
      const DataRange ids{array_.buffer(field, BufferShape::kTypeIds), array.offset + first, count};
      const uint8_t* type_ids = nullptr;
      const uint8_t* offsets = nullptr;
      if (offsets_buffer == nullptr) {
        type_ids = index_.read(ids);
      } else {
        const auto found = index_.read(
            {ids, DataRange{offsets_buffer, (array.offset + first) * kUnionOffsetBytes, count * kUnionOffsetBytes}});
        type_ids = found[0];
        offsets = found[1];
      }
      for (int64_t i = 0; i < count; ++i) {
        const int8_t child = transfer::union_child(type_ids[i], children);
        if (child < 0) {
          refuse_slot(
              field, first + i,
              "has type id " + std::to_string(static_cast<int8_t>(type_ids[i])) + ", which the type does not name");
        }
        if (offsets == nullptr) continue;
        const int64_t offset = transfer::load_index(offsets, i, kUnionOffsetBytes);
        const int64_t length = array_[described.first_child + child].length;
        if (offset < 0 || offset >= length) {
          refuse_slot(field, first + i,
                      "has offset " + std::to_string(offset) + ", and child " + std::to_string(child) + " has length " +
                          std::to_string(length));
        }
      }
    });
  }

  void check_run_ends(int32_t field) {
    const auto& array = array_[field];
    const int32_t ends_field = array_.tree()[field].first_child;
    const auto& ends = array_[ends_field];
    const int width = static_cast<int>(type(ends_field).bit_width / 8);
    int64_t before = 0;
    in_pieces(ends.length, width, [&](int64_t first, int64_t count) {
      const auto* const entries =
          index_.read({array_.buffer(ends_field, BufferShape::kValues), (ends.offset + first) * width, count * width});
      for (int64_t i = 0; i < count; ++i) {
        const int64_t end = transfer::load_index(entries, i, width);
        if (end <= before) {
          refuse_slot(ends_field, first + i,
                      "ends at " + std::to_string(end) + ", and the run before it at " + std::to_string(before));
        }
        before = end;
      }
    });
    if (before < array.offset + array.length) {
      array_.refuse(field, "the runs end at " + std::to_string(before) + ", and the array reaches " +
                               std::to_string(array.offset + array.length));
    }
  }

  const schema::Binding& array_;
  const BufferBounds places_;
  VisibleSlots seen_;
  // One reader for each kind of data, because the bytes of a read are valid only until the next read.
  ValidityReader validity_;
  DataReader index_;
  TextCheck texts_;
  BinaryViewCheck views_;
  const bool is_strict_;
};

void check_reserved(const ArrowDeviceArray& array) {
  for (const int64_t value : array.reserved) {
    if (value != 0) throw Error(EINVAL, "the producer has left reserved bytes of the device array uninitialised");
  }
}

}  // namespace

void validate(const ArrowDeviceArray& array, const ArrowSchema& schema, device::Device* named, Level level,
              const Deadline& deadline) {
  array::check_alive(&array);
  const schema::Tree tree(schema);
  const schema::Binding bound(tree, array.array);
  if (level != Level::kStructure) validate_data(bound, array, nullptr, array::device_of(array, named), level, deadline);
}

void validate_data(const schema::Binding& bound, const ArrowDeviceArray& array, ArrowDeviceArray* moved,
                   device::Device& source, Level level, const Deadline& deadline) {
  if (level == Level::kStructure) return;
  if (level == Level::kStrict) check_reserved(array);
  const device::DeviceUse use(source);
  const device::ForeignEvent event(source, array.sync_event);
  event.wait(deadline.left());
  const device::QueueLease lease = source.is_on_host() ? device::QueueLease() : device::QueueLease(source);
  Validation(bound, {source, lease.get(), event, deadline, moved}, level == Level::kStrict).run(array);
}

}  // namespace arrowdevice::inspect
