// SPDX-License-Identifier: Apache-2.0
// Tests validation of many texts at once: it names the first wrong slot, wherever the error is.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "library.h"
#include "support/utf8.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr int64_t kSlots = 2500;

// The slots of an array: slot i has the bytes from ends[i - 1] to ends[i].
struct Texts {
  Bytes bytes;
  std::vector<int64_t> ends;
  std::vector<bool> valid;

  int64_t begin(size_t slot) const { return slot == 0 ? 0 : ends[slot - 1]; }
  std::span<const uint8_t> text(size_t slot) const {
    return std::span(bytes).subspan(static_cast<size_t>(begin(slot)), static_cast<size_t>(ends[slot] - begin(slot)));
  }

  // Returns the first slot that is not null and not UTF-8.
  std::optional<size_t> first_wrong() const {
    for (size_t slot = 0; slot < ends.size(); ++slot) {
      if (valid[slot] && !is_decodable(text(slot))) return slot;
    }
    return std::nullopt;
  }
};

void append(Bytes& bytes, std::string_view text) { bytes.insert(bytes.end(), text.begin(), text.end()); }

// Returns texts of up to `longest` characters.
Texts random_texts(Random& random, int64_t longest) {
  constexpr std::string_view kCharacters[] = {"a", "b", "\xD0\x9F", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  Texts texts;
  const bool has_nulls = random.below(2) == 0;
  for (int64_t slot = 0; slot < kSlots; ++slot) {
    for (int64_t left = random.below(longest + 1); left > 0; --left) {
      append(texts.bytes, kCharacters[random.below(std::size(kCharacters))]);
    }
    texts.ends.push_back(static_cast<int64_t>(texts.bytes.size()));
    texts.valid.push_back(!has_nulls || random.below(4) != 0);
  }
  return texts;
}

// Moves an end into a character, or changes a byte. The slot is random or at the border of a group of slots.
void spoil(Random& random, Texts& texts) {
  constexpr int64_t kTurns[] = {0, 1, 62, 63, 64, 65, 127, 128, 1022, 1023, 1024, 1025, kSlots - 2, kSlots - 1};
  const auto slot =
      static_cast<size_t>(random.below(2) == 0 ? random.below(kSlots) : kTurns[random.below(std::size(kTurns))]);
  if (texts.ends[slot] == texts.begin(slot)) return;
  if (random.below(2) == 0) {
    --texts.ends[slot];
  } else {
    texts.bytes[static_cast<size_t>(texts.ends[slot] - 1)] = static_cast<uint8_t>(random.next());
  }
}

template <typename Value>
Buffer buffer_of_all(const std::vector<Value>& values) {
  Buffer made;
  made.bytes.resize(values.size() * sizeof(Value));
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

Buffer validity(const Texts& texts) {
  Buffer made;
  made.bytes.resize((texts.valid.size() + 7) / 8);
  for (size_t slot = 0; slot < texts.valid.size(); ++slot) {
    if (texts.valid[slot]) made.bytes[slot / 8] |= static_cast<uint8_t>(1 << slot % 8);
  }
  return made;
}

template <typename Offset>
Data with_offsets(const Texts& texts) {
  std::vector<Offset> offsets = {0};
  for (const int64_t end : texts.ends) offsets.push_back(static_cast<Offset>(end));
  return data_of(kSlots, {validity(texts), buffer_of_all(offsets), {texts.bytes}});
}

Data with_views(const Texts& texts) {
  struct View {
    int32_t size;
    char rest[12];
  };
  std::vector<View> views(texts.ends.size());
  for (size_t slot = 0; slot < views.size(); ++slot) {
    const auto text = texts.text(slot);
    const auto begin = static_cast<int32_t>(texts.begin(slot));
    View& view = views[slot];
    view.size = static_cast<int32_t>(text.size());
    std::copy_n(text.begin(), std::min<size_t>(text.size(), text.size() > 12 ? 4 : 12), view.rest);
    if (text.size() > 12) std::memcpy(view.rest + 8, &begin, sizeof begin);
  }
  return data_of(kSlots, {validity(texts),
                          buffer_of_all(views),
                          {texts.bytes},
                          buffer_of<int64_t>({static_cast<int64_t>(texts.bytes.size())})});
}

void check_texts(const char* format, Data data, const std::optional<size_t>& wrong) {
  data.null_count = -1;
  const auto schema = make_schema(field(format));
  const Array host = from_host(make_array(std::move(data), Ledger()));
  const Array there = copy(*host, *schema, sim(0), ARROWDEVICE_COPY_NO_TRIM);
  for (const auto* array : {&host, &there}) {
    INFO(format << (array == &host ? " on the host" : " on a device"));
    if (!wrong) {
      must(arrowdevice_array_validate, array->get(), schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
    } else {
      must_fail_saying(EINVAL, "array: slot " + std::to_string(*wrong) + " is not UTF-8", arrowdevice_array_validate,
                       array->get(), schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
    }
  }
}

TEST_CASE("validation names the first slot that is not UTF-8 among many texts") {
  begin();
  Random random(1);
  int n_wrong = 0;
  constexpr int kArrays = 200;
  for (int i = 0; i < kArrays; ++i) {
    // The longest texts are read in several pieces.
    Texts texts = random_texts(random, i % 50 == 0 ? 1'500 : i % 2 == 0 ? 6 : 60);
    for (int64_t left = random.below(3); left > 0; --left) spoil(random, texts);
    const auto wrong = texts.first_wrong();
    INFO("array " << i);
    check_texts("u", with_offsets<int32_t>(texts), wrong);
    check_texts("U", with_offsets<int64_t>(texts), wrong);
    check_texts("vu", with_views(texts), wrong);
    n_wrong += wrong ? 1 : 0;
  }
  CHECK(n_wrong > kArrays / 4);
  CHECK(n_wrong < kArrays * 3 / 4);
}

TEST_CASE("validation refuses an unfinished inline text before a long text") {
  begin();
  Texts texts{Bytes(140, 'a'), std::vector<int64_t>(kSlots, 140), std::vector<bool>(kSlots, true)};
  texts.bytes[11] = 0xC3;
  texts.ends[0] = 12;
  // The second text has 128 bytes. Its view begins with the byte 0x80, which would end the character.
  check_texts("vu", with_views(texts), 0);
}

}  // namespace
