// SPDX-License-Identifier: Apache-2.0
#include "spoil.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "support/shape.h"

namespace fuzz {

namespace {

constexpr size_t kSpareBytes = 16384;
constexpr int64_t kMostSlots = 64;

// A buffer and the bytes of a value in it.
struct Place {
  Buffer* buffer;
  size_t width;
};

size_t value_width(const Shape& shape, size_t buffer) {
  switch (shape.kind) {
    case Kind::kBinary:
    case Kind::kList: return buffer == 1 ? static_cast<size_t>(shape.width) : 1;
    case Kind::kListView: return buffer >= 1 ? static_cast<size_t>(shape.width) : 1;
    case Kind::kDenseUnion: return buffer == 0 ? 1 : 4;
    case Kind::kView: return buffer == 1 ? 4 : 1;
    case Kind::kFixed:
      return buffer == 1 && shape.bits >= 8 && shape.bits <= 64 ? static_cast<size_t>(shape.bits / 8) : 1;
    default: return 1;
  }
}

void add_places(const Field& type, Data& data, std::vector<Place>& places) {
  const Shape shape = shape_of(type.format);
  // Legacy producers give unions a validity buffer first.
  const size_t skipped = shape.is_union() ? data.buffers.size() - static_cast<size_t>(shape.n_buffers()) : 0;
  for (size_t i = skipped; i < data.buffers.size(); ++i) {
    const bool has_sizes = shape.kind == Kind::kView && i + 1 == data.buffers.size();
    if (!data.buffers[i].null) places.push_back({&data.buffers[i], has_sizes ? 8 : value_width(shape, i - skipped)});
  }
  for (size_t i = 0; i < data.children.size(); ++i) add_places(type.children[i], data.children[i], places);
  if (data.dictionary != nullptr) add_places(*type.dictionary, *data.dictionary, places);
}

// Returns a value that is wrong, valid by chance, or at a limit. It never exceeds the spare bytes.
int64_t value_of(Input& input) {
  constexpr int64_t kTurns[] = {0, 1, 2, 5, 30, 100, 1000, -1, -2, -100, -2147483647, -2147483648};
  return input.flag() ? input.pick(kTurns) : input.below(64);
}

}  // namespace

void spoil_bytes(Input& input, const Field& type, Data& data) {
  std::vector<Place> places;
  add_places(type, data, places);
  if (places.empty()) return;
  const Place& place = input.pick(places);
  const size_t slots = place.buffer->bytes.size() / place.width;
  if (slots == 0) return;
  const int64_t value = value_of(input);
  const auto slot = static_cast<size_t>(input.below(static_cast<int64_t>(std::min<size_t>(slots, 256))));
  std::memcpy(place.buffer->bytes.data() + slot * place.width, &value, place.width);
}

void lengthen(const Field& type, Data& data, Spare spare) {
  const Shape shape = shape_of(type.format);
  for (size_t i = 0; i < data.buffers.size(); ++i) {
    const bool is_text =
        (shape.kind == Kind::kBinary && i == 2) || (shape.kind == Kind::kView && i >= 2 && i + 1 < data.buffers.size());
    Buffer& buffer = data.buffers[i];
    if (!buffer.null && (is_text || spare == Spare::kEverywhere))
      buffer.bytes.resize(buffer.bytes.size() + kSpareBytes);
  }
  for (size_t i = 0; i < data.children.size(); ++i) lengthen(type.children[i], data.children[i], spare);
  if (data.dictionary != nullptr) lengthen(*type.dictionary, *data.dictionary, spare);
}

void StructSpoiler::set_slots(Input& input, int64_t& number) {
  number = input.flag() ? input.below(kMostSlots) : input.number();
  if (number > kMostSlots) has_data_ = false;
}

void StructSpoiler::set_format(Input& input, ArrowSchema& schema) {
  // Every buffer is long enough for these types.
  constexpr const char* kNarrow[] = {"c", "S", "i", "l", "g", "b", "tdD", "tss:UTC", "d:38,2", "d:70,2,256", "w:7"};
  // These types need more bytes, or offsets in place of values.
  constexpr const char* kOthers[] = {"n",  "u",     "Z",     "vu", "+l",    "+vL", "+w:3",     "+s",
                                     "+m", "+ud:0", "+us:0", "+r", "w:999", "",    "nonsense", nullptr};
  const bool is_narrow = input.flag();
  schema.format = is_narrow ? input.pick(kNarrow) : input.pick(kOthers);
  if (!is_narrow) has_data_ = false;
}

void StructSpoiler::spoil_array(Input& input, size_t i) {
  ArrowArray& array = arrays_[i];
  const ArrowArray& before = arrays_.before(i);
  ArrowArray& root = arrays_[0];
  switch (input.below(14)) {
    case 0: return set_slots(input, array.length);
    case 1: return set_slots(input, array.offset);
    case 2: array.null_count = input.number(); return;
    case 3:
      // Views may have any number of buffers. The last buffer then holds the sizes of the others, so a
      // greater number is unreadable.
      array.n_buffers = std::min(input.number(), before.n_buffers);
      has_data_ = false;
      return;
    case 4: array.n_children = input.number(); return;
    case 5: array.buffers = nullptr; return;
    case 6: array.children = nullptr; return;
    case 7:
    case 8:
      if (before.n_children > 0) {
        before.children[input.below(before.n_children)] = input.flag() ? nullptr : &root;
      }
      return;
    case 9: array.dictionary = input.flag() ? nullptr : &root; return;
    case 10: array.release = nullptr; return;
    default:
      if (before.n_buffers > 0) before.buffers[input.below(before.n_buffers)] = nullptr;
  }
}

void StructSpoiler::spoil_schema(Input& input, size_t i) {
  ArrowSchema& schema = schemas_[i];
  const ArrowSchema& before = schemas_.before(i);
  ArrowSchema& root = schemas_[0];
  switch (input.below(9)) {
    case 0:
    case 1: return set_format(input, schema);
    case 2: schema.name = input.flag() ? nullptr : "another name"; return;
    case 3: schema.flags = input.number(); return;
    case 4: schema.n_children = std::min(input.number(), before.n_children); return;  // more children are unreadable
    case 5: schema.children = nullptr; return;
    case 6:
      if (before.n_children > 0) before.children[input.below(before.n_children)] = input.flag() ? nullptr : &root;
      return;
    case 7: schema.dictionary = input.flag() ? nullptr : &root; return;
    default: schema.release = nullptr;
  }
}

void spoil_message(Input& input, std::vector<uint8_t>& message) {
  for (int64_t left = input.below(6); left > 0; --left) {
    const auto at = static_cast<size_t>(input.below(std::ssize(message)));
    message[at] = input.flag() ? static_cast<uint8_t>(message[at] ^ (1 << input.below(8))) : input.byte();
  }
  if (input.below(8) == 7) message.resize(static_cast<size_t>(input.below(std::ssize(message))));
}

void StructSpoiler::spoil(Input& input) {
  if (input.below(3) == 2) {
    spoil_schema(input, static_cast<size_t>(input.below(static_cast<int64_t>(schemas_.size()))));
  } else {
    spoil_array(input, static_cast<size_t>(input.below(static_cast<int64_t>(arrays_.size()))));
  }
}

void StructSpoiler::restore() const {
  schemas_.restore();
  arrays_.restore();
}

}  // namespace fuzz
