// SPDX-License-Identifier: Apache-2.0
#include "sample_texts.h"

#include <array>
#include <bit>
#include <concepts>
#include <utility>

namespace arrowdevice::bench {
namespace {

constexpr size_t kBytes = 16'000'000;
constexpr size_t kDifferentTexts = 1'000;

size_t character_bytes(std::string_view text) {
  const auto is_continuation = [](char byte) { return (byte & 0xc0) == 0x80; };
  size_t size = 1;
  while (size < text.size() && is_continuation(text[size])) ++size;
  return size;
}

std::vector<std::string> texts_of(std::string_view sample, size_t text_bytes) {
  std::vector<std::string> texts(kDifferentTexts);
  std::string_view rest = sample;
  for (std::string& text : texts) {
    for (size_t size = character_bytes(rest); text.size() + size <= text_bytes; size = character_bytes(rest)) {
      text += rest.substr(0, size);
      rest.remove_prefix(size);
      if (rest.empty()) rest = sample;
    }
  }
  return texts;
}

template <std::integral Value>
void append(AlignedVector<char>& to, Value value) {
  const auto bytes = std::bit_cast<std::array<char, sizeof value>>(value);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append(AlignedVector<char>& to, std::string_view text) { to.insert(to.end(), text.begin(), text.end()); }

// A view of more bytes has the begin of the text, and its place in a buffer.
constexpr size_t kLongestInView = 12;

void append_view(AlignedVector<char>& views, std::string_view text, size_t offset) {
  constexpr size_t kBegin = 4;
  append(views, static_cast<int32_t>(text.size()));
  if (text.size() <= kLongestInView) {
    append(views, text);
    views.resize(views.size() + kLongestInView - text.size());
    return;
  }
  append(views, text.substr(0, kBegin));
  append(views, int32_t{0});  // the first and only buffer
  append(views, static_cast<int32_t>(offset));
}

}  // namespace

SampleTexts::SampleTexts(Layout layout, std::string_view sample, size_t text_bytes, Content content) {
  const std::vector<std::string> texts = texts_of(sample, text_bytes);
  Rows rows;
  for (size_t i = 0; bytes_ < kBytes; ++i) {
    rows.push_back(texts[i % texts.size()]);
    bytes_ += rows.back().size();
  }
  std::string last(rows.back());
  if (content == Content::kSpoiled) last.back() = '\xff';
  rows.back() = last;
  Field& column = layout == Layout::kOffsets ? add_offsets_and_bytes(rows) : add_views(rows);
  set_columns(std::ssize(rows), {&column});
}

RecordBatch::Field& SampleTexts::add_offsets_and_bytes(const Rows& rows) {
  AlignedVector<char> offsets;
  AlignedVector<char> characters;
  append(offsets, int32_t{0});
  for (const std::string_view text : rows) {
    append(characters, text);
    append(offsets, static_cast<int32_t>(characters.size()));
  }
  return add("u", std::ssize(rows), {{}, own(std::move(offsets)), own(std::move(characters))});
}

RecordBatch::Field& SampleTexts::add_views(const Rows& rows) {
  AlignedVector<char> views;
  AlignedVector<char> characters;
  for (const std::string_view text : rows) {
    append_view(views, text, characters.size());
    if (text.size() > kLongestInView) append(characters, text);
  }
  AlignedVector<char> sizes;
  append(sizes, std::ssize(characters));
  return add("vu", std::ssize(rows), {{}, own(std::move(views)), own(std::move(characters)), own(std::move(sizes))});
}

}  // namespace arrowdevice::bench
