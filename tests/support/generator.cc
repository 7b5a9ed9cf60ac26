// SPDX-License-Identifier: Apache-2.0
#include "support/generator.h"

#include <algorithm>
#include <array>
#include <limits>

#include "support/shape.h"

namespace arrowdevice::testing {

namespace {

constexpr unsigned char kGarbage = 0xA5;
constexpr int64_t kInlineView = 12;

template <typename Value>
void put(Bytes& bytes, int64_t position, Value value) {
  std::memcpy(bytes.data() + position, &value, sizeof value);
}

void put_integer(Bytes& bytes, int64_t slot, int width, int64_t value) {
  // All platforms of the library are little-endian, so the low bytes come first.
  std::memcpy(bytes.data() + slot * width, &value, static_cast<size_t>(width));
}

void put_bit(Bytes& bytes, int64_t slot, bool set) {
  unsigned char& byte = bytes[static_cast<size_t>(slot / 8)];
  const auto mask = static_cast<unsigned char>(1U << (slot % 8));
  byte = static_cast<unsigned char>(set ? byte | mask : byte & ~mask);
}

Bytes garbage(int64_t size) { return Bytes(static_cast<size_t>(size), kGarbage); }

class Generator {
 public:
  explicit Generator(const Knobs& knobs) : knobs_(knobs), random_(knobs.seed) {}

  Data node(const Field& field, int64_t length, int64_t offset, int depth);

 private:
  struct Slots {
    int64_t first, length, all;  // `all` includes the slots before and behind
    std::vector<bool> valid;     // one flag for each of the `length` slots
    bool is_valid(int64_t i) const { return valid[static_cast<size_t>(i)]; }
  };

  Data child(const Field& parent, size_t index, int64_t length, int depth);
  Buffer finish(Bytes bytes) const {
    const bool null = bytes.empty() && knobs_.null_empty;
    return {std::move(bytes), null};
  }
  Buffer finish_offsets(Bytes bytes, const Slots& slots) const;
  void validity(const Field& field, Slots& slots, Data& data);
  Bytes text(bool utf8, int64_t longest);

  Buffer fixed(const Field& field, int64_t bits, const Slots& slots);
  Buffer indices(int64_t bits, const Slots& slots, int64_t values);
  void binary(const Shape& shape, const Slots& slots, Data& data);
  void views(const Shape& shape, const Slots& slots, Data& data);
  void list(const Field& field, const Shape& shape, const Slots& slots, Data& data, int depth);
  void list_view(const Field& field, const Shape& shape, const Slots& slots, Data& data, int depth);
  void sparse_union(const Field& field, const Shape& shape, const Slots& slots, Data& data, int depth);
  void dense_union(const Field& field, const Shape& shape, const Slots& slots, Data& data, int depth);
  void run_ends(const Field& field, const Slots& slots, Data& data, int depth);
  void value(std::string_view format, int64_t width, unsigned char* out);

  int64_t lead() const { return knobs_.child_offset > 0 || knobs_.offset > 0 ? 3 : 0; }
  int64_t trail() const { return knobs_.tail > 0 ? 2 : 0; }
  // Gives deep lists few items, because every level multiplies the rows.
  int64_t items(int depth) { return random_.below((depth > 2 ? std::min(knobs_.longest, 2) : knobs_.longest) + 1); }

  const Knobs& knobs_;
  Random random_;
};

Data Generator::child(const Field& parent, size_t index, int64_t length, int depth) {
  const int64_t offset =
      knobs_.child_offset == 0 ? 0 : (knobs_.child_offset + 5 * static_cast<int64_t>(index) + 3 * depth) % 17;
  return node(parent.children[index], length, offset, depth + 1);
}

Buffer Generator::finish_offsets(Bytes bytes, const Slots& slots) const {
  if (slots.all > 0) return {std::move(bytes), false};
  if (knobs_.null_offsets) return no_buffer();
  if (!knobs_.null_empty) return {{}, false};
  return {std::move(bytes), false};
}

void Generator::validity(const Field& field, Slots& slots, Data& data) {
  const Nulls nulls = knobs_.nulls;
  slots.valid.assign(static_cast<size_t>(slots.length), true);
  const bool bitmap = field.nullable() && nulls != Nulls::kNone && nulls != Nulls::kNoneUncounted;
  if (!bitmap) {
    data.null_count = field.nullable() && nulls == Nulls::kNoneUncounted ? -1 : 0;
    data.buffers.push_back(no_buffer());
    return;
  }
  Bytes bits = garbage((slots.all + 7) / 8);
  int64_t n_nulls = 0;
  for (int64_t i = 0; i < slots.length; ++i) {
    const bool some = nulls == Nulls::kSome || nulls == Nulls::kSomeUncounted;
    const bool null = nulls == Nulls::kAll || (some && (i == slots.length / 2 || random_.below(3) == 0));
    slots.valid[static_cast<size_t>(i)] = !null;
    put_bit(bits, slots.first + i, !null);
    n_nulls += null;
  }
  data.null_count = nulls == Nulls::kSomeUncounted ? -1 : n_nulls;
  data.buffers.push_back(finish(std::move(bits)));
}

Data Generator::node(const Field& field, int64_t length, int64_t offset, int depth) {
  const Shape shape = shape_of(field.format);
  Data data;
  data.length = length;
  data.offset = offset;
  data.misaligned = knobs_.misaligned;
  Slots slots{offset, length, offset + length + knobs_.tail, {}};
  if (shape.has_validity()) validity(field, slots, data);
  if ((shape.is_union() || shape.kind == Kind::kNull) && knobs_.legacy) data.buffers.push_back(no_buffer());

  switch (shape.kind) {
    case Kind::kNull: data.null_count = knobs_.nulls == Nulls::kSomeUncounted ? -1 : length; break;
    case Kind::kFixed:
      if (field.dictionary) {
        const int64_t values = length == 0 || knobs_.nulls == Nulls::kAll ? 0 : 7;
        data.buffers.push_back(indices(shape.bits, slots, values));
        data.dictionary = std::make_shared<Data>(node(*field.dictionary, values, knobs_.child_offset, depth + 1));
      } else {
        data.buffers.push_back(fixed(field, shape.bits, slots));
      }
      break;
    case Kind::kBinary: binary(shape, slots, data); break;
    case Kind::kView: views(shape, slots, data); break;
    case Kind::kList: list(field, shape, slots, data, depth); break;
    case Kind::kListView: list_view(field, shape, slots, data, depth); break;
    case Kind::kFixedSizeList: data.children.push_back(child(field, 0, slots.all * shape.list_size, depth)); break;
    case Kind::kStruct:
      for (size_t i = 0; i < field.children.size(); ++i) {
        // Makes some children longer than their parent needs.
        data.children.push_back(child(field, i, slots.all + static_cast<int64_t>(i % 2) * knobs_.tail, depth));
      }
      break;
    case Kind::kSparseUnion: sparse_union(field, shape, slots, data, depth); break;
    case Kind::kDenseUnion: dense_union(field, shape, slots, data, depth); break;
    case Kind::kRunEndEncoded: run_ends(field, slots, data, depth); break;
  }
  return data;
}

void Generator::value(std::string_view format, int64_t width, unsigned char* out) {
  int64_t number = static_cast<int64_t>(random_.next());
  const auto unit = [&](char letter) -> int64_t {
    return letter == 's' ? 1 : letter == 'm' ? 1'000 : letter == 'u' ? 1'000'000 : 1'000'000'000;
  };
  if (format == "tdD") {
    number = random_.below(40'000) - 10'000;
  } else if (format == "tdm") {
    number = (random_.below(40'000) - 10'000) * 86'400'000;
  } else if (format.starts_with("tt")) {
    number = random_.below(86'400 * unit(format[2]));
  } else if (format.starts_with("ts") || format.starts_with("tD")) {
    number = random_.below(4'000'000'000) * unit(format[2]) + random_.below(unit(format[2]));
  } else if (format.starts_with("d:")) {
    const int64_t digits = std::stoll(std::string(format.substr(2)));
    int64_t limit = 1;
    for (int64_t i = 0; i < std::min<int64_t>(digits, 18); ++i) limit *= 10;
    number = random_.below(limit);
    if (random_.below(2) == 0) number = -number;
    std::memset(out, number < 0 ? 0xFF : 0, static_cast<size_t>(width));
    std::memcpy(out, &number, static_cast<size_t>(std::min<int64_t>(width, 8)));
    // 2^120 and 2^248 have fewer than 38 and 76 digits.
    const int64_t random_bytes = digits >= 76 ? 31 : digits >= 38 ? 15 : 0;
    for (int64_t i = 0; i < random_bytes; ++i) out[i] = static_cast<unsigned char>(random_.next());
    return;
  }
  for (int64_t i = 0; i < width; ++i) {
    if (i > 0 && i % 8 == 0) number = static_cast<int64_t>(random_.next());
    out[i] = static_cast<unsigned char>(static_cast<uint64_t>(number) >> (8 * (i % 8)));
  }
}

Buffer Generator::fixed(const Field& field, int64_t bits, const Slots& slots) {
  Bytes bytes = garbage((slots.all * bits + 7) / 8);
  for (int64_t i = 0; i < slots.length; ++i) {
    if (!slots.is_valid(i)) continue;
    if (bits == 1) {
      put_bit(bytes, slots.first + i, random_.below(2) == 1);
    } else if (bits != 0) {
      value(field.format, bits / 8, bytes.data() + (slots.first + i) * (bits / 8));
    }
  }
  return finish(std::move(bytes));
}

Buffer Generator::indices(int64_t bits, const Slots& slots, int64_t values) {
  Bytes bytes = garbage(slots.all * bits / 8);
  for (int64_t i = 0; i < slots.length; ++i) {
    if (slots.is_valid(i)) put_integer(bytes, slots.first + i, static_cast<int>(bits / 8), random_.below(values));
  }
  return finish(std::move(bytes));
}

Bytes Generator::text(bool utf8, int64_t longest) {
  constexpr std::array<std::string_view, 6> kLetters = {"a", "Z", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9D\x84\x9E", "0"};
  const int64_t length = random_.below(longest + 1);
  Bytes made;
  made.reserve(static_cast<size_t>(length));
  while (static_cast<int64_t>(made.size()) < length) {
    if (utf8) {
      std::string_view letter = kLetters[static_cast<size_t>(random_.below(kLetters.size()))];
      if (static_cast<int64_t>(made.size() + letter.size()) > length) letter = "x";
      made.insert(made.end(), letter.begin(), letter.end());
    } else {
      made.push_back(static_cast<unsigned char>(random_.next()));
    }
  }
  return made;
}

void Generator::binary(const Shape& shape, const Slots& slots, Data& data) {
  Bytes offsets = garbage((slots.all + 1) * shape.width);
  Bytes bytes = garbage(slots.all > 0 ? lead() : 0);
  put_integer(offsets, slots.first, shape.width, static_cast<int64_t>(bytes.size()));
  for (int64_t i = 0; i < slots.length; ++i) {
    // Some nulls get text too, which no reader may read.
    if (slots.is_valid(i)) {
      const Bytes one = text(shape.is_utf8, knobs_.longest_text);
      bytes.insert(bytes.end(), one.begin(), one.end());
    } else if (random_.below(2) == 0) {
      bytes.insert(bytes.end(), 2, kGarbage);
    }
    put_integer(offsets, slots.first + i + 1, shape.width, static_cast<int64_t>(bytes.size()));
  }
  bytes.insert(bytes.end(), static_cast<size_t>(trail()), kGarbage);
  data.buffers.push_back(finish_offsets(std::move(offsets), slots));
  data.buffers.push_back(finish(std::move(bytes)));
}

void Generator::views(const Shape& shape, const Slots& slots, Data& data) {
  Bytes views = garbage(slots.all * 16);
  std::vector<Bytes> variadic(static_cast<size_t>(knobs_.variadic));
  // If there are many buffers, one stays empty. The others begin with bytes that no view uses.
  const auto is_empty = [&](size_t i) { return variadic.size() > 2 && i == 1; };
  for (size_t i = 0; i < variadic.size(); ++i) {
    if (!is_empty(i) && slots.all > 0) variadic[i] = garbage(lead());
  }
  for (int64_t i = 0; i < slots.length; ++i) {
    if (!slots.is_valid(i)) continue;
    const int64_t longest = variadic.empty() ? kInlineView : std::max<int64_t>(knobs_.longest_text, kInlineView + 1);
    const Bytes one = text(shape.is_utf8, longest);
    const int64_t at = (slots.first + i) * 16;
    std::memset(views.data() + at, 0, 16);
    put(views, at, static_cast<int32_t>(one.size()));
    if (static_cast<int64_t>(one.size()) <= kInlineView) {
      if (!one.empty()) std::memcpy(views.data() + at + 4, one.data(), one.size());
      continue;
    }
    size_t buffer = static_cast<size_t>(random_.below(knobs_.variadic));
    if (is_empty(buffer)) buffer = 0;
    std::memcpy(views.data() + at + 4, one.data(), 4);
    put(views, at + 8, static_cast<int32_t>(buffer));
    put(views, at + 12, static_cast<int32_t>(variadic[buffer].size()));
    variadic[buffer].insert(variadic[buffer].end(), one.begin(), one.end());
  }
  data.buffers.push_back(finish(std::move(views)));
  Bytes sizes = garbage(8 * static_cast<int64_t>(variadic.size()));
  for (size_t i = 0; i < variadic.size(); ++i) {
    variadic[i].insert(variadic[i].end(), is_empty(i) ? 0 : static_cast<size_t>(trail()), kGarbage);
    put_integer(sizes, static_cast<int64_t>(i), 8, static_cast<int64_t>(variadic[i].size()));
    data.buffers.push_back(finish(std::move(variadic[i])));
  }
  data.buffers.push_back(finish(std::move(sizes)));
}

void Generator::list(const Field& field, const Shape& shape, const Slots& slots, Data& data, int depth) {
  Bytes offsets = garbage((slots.all + 1) * shape.width);
  int64_t end = slots.all > 0 ? lead() : 0;
  put_integer(offsets, slots.first, shape.width, end);
  for (int64_t i = 0; i < slots.length; ++i) {
    end += items(depth);
    put_integer(offsets, slots.first + i + 1, shape.width, end);
  }
  data.buffers.push_back(finish_offsets(std::move(offsets), slots));
  data.children.push_back(child(field, 0, end + trail(), depth));
}

void Generator::list_view(const Field& field, const Shape& shape, const Slots& slots, Data& data, int depth) {
  Bytes offsets = garbage(slots.all * shape.width);
  Bytes sizes = garbage(slots.all * shape.width);
  // Makes about as many items as slots, so that views overlap and are in no order.
  const int64_t n_items = slots.length == 0 || knobs_.longest == 0 ? 0 : slots.length + knobs_.longest;
  for (int64_t i = 0; i < slots.length; ++i) {
    if (!slots.is_valid(i) && knobs_.wild_views) continue;
    const int64_t size = slots.is_valid(i) ? std::min(items(depth), n_items) : 0;
    put_integer(sizes, slots.first + i, shape.width, size);
    put_integer(offsets, slots.first + i, shape.width, lead() + random_.below(n_items - size + 1));
  }
  data.buffers.push_back(finish(std::move(offsets)));
  data.buffers.push_back(finish(std::move(sizes)));
  data.children.push_back(child(field, 0, lead() + n_items + trail(), depth));
}

void Generator::sparse_union(const Field& field, const Shape& shape, const Slots& slots, Data& data, int depth) {
  Bytes ids = garbage(slots.all);
  for (int64_t i = 0; i < slots.length; ++i) {
    const auto which = static_cast<size_t>(random_.below(static_cast<int64_t>(shape.type_ids.size())));
    put_integer(ids, slots.first + i, 1, shape.type_ids[which]);
  }
  data.buffers.push_back(finish(std::move(ids)));
  for (size_t i = 0; i < field.children.size(); ++i) data.children.push_back(child(field, i, slots.all, depth));
}

void Generator::dense_union(const Field& field, const Shape& shape, const Slots& slots, Data& data, int depth) {
  Bytes ids = garbage(slots.all);
  Bytes offsets = garbage(slots.all * 4);
  std::vector<std::vector<int64_t>> slots_of(shape.type_ids.size());
  for (int64_t i = 0; i < slots.length; ++i) {
    // Leaves the last of several children unused.
    const auto n_used = static_cast<int64_t>(shape.type_ids.size() - (shape.type_ids.size() > 2));
    const auto which = static_cast<size_t>(random_.below(n_used));
    put_integer(ids, slots.first + i, 1, shape.type_ids[which]);
    slots_of[which].push_back(slots.first + i);
  }
  for (size_t c = 0; c < slots_of.size(); ++c) {
    std::vector<int64_t>& of_child = slots_of[c];
    const auto count = static_cast<int64_t>(of_child.size());
    if (knobs_.shuffled) {
      for (int64_t i = count - 1; i > 0; --i) {
        std::swap(of_child[static_cast<size_t>(i)], of_child[static_cast<size_t>(random_.below(i + 1))]);
      }
    }
    for (int64_t i = 0; i < count; ++i) put_integer(offsets, of_child[static_cast<size_t>(i)], 4, lead() + i);
    data.children.push_back(child(field, c, lead() + count + trail(), depth));
  }
  data.buffers.push_back(finish(std::move(ids)));
  data.buffers.push_back(finish(std::move(offsets)));
}

void Generator::run_ends(const Field& field, const Slots& slots, Data& data, int depth) {
  const int64_t logical = slots.first + slots.length;
  std::vector<int64_t> ends;
  for (int64_t end = 0; end < logical;) {
    end += 1 + random_.below(5);
    // The last run ends with the array or, if slots follow, behind it.
    if (end >= logical && knobs_.tail == 0) end = logical;
    ends.push_back(end);
  }
  if (!ends.empty() && knobs_.tail > 0) ends.push_back(ends.back() + knobs_.tail);

  const int width = static_cast<int>(shape_of(field.children[0].format).bits / 8);
  const auto n_runs = static_cast<int64_t>(ends.size());
  Data positions;
  positions.length = n_runs;
  positions.offset = knobs_.child_offset;
  positions.misaligned = knobs_.misaligned;
  Bytes bytes = garbage((positions.offset + n_runs) * width);
  for (int64_t i = 0; i < n_runs; ++i) {
    put_integer(bytes, positions.offset + i, width, ends[static_cast<size_t>(i)]);
  }
  positions.buffers = {no_buffer(), finish(std::move(bytes))};
  data.children.push_back(std::move(positions));
  data.children.push_back(child(field, 1, n_runs, depth));
}

}  // namespace

uint64_t Random::next() noexcept {
  state_ += 0x9E3779B97F4A7C15U;
  uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
  return mixed ^ (mixed >> 31);
}

int64_t Random::below(int64_t bound) noexcept {
  return bound <= 0 ? 0 : static_cast<int64_t>(next() % static_cast<uint64_t>(bound));
}

Data generate(const Field& field, const Knobs& knobs) {
  return Generator(knobs).node(field, knobs.rows, knobs.offset, 0);
}

}  // namespace arrowdevice::testing
