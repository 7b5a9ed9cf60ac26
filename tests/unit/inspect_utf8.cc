// SPDX-License-Identifier: Apache-2.0
// Compares each implementation of the UTF-8 check with a decoder that reads one character after the other.
#include "inspect/utf8.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "support/generator.h"
#include "support/utf8.h"

namespace {

using arrowdevice::inspect::is_utf8;
using arrowdevice::inspect::utf8_implementations;
using arrowdevice::inspect::Utf8Check;
using arrowdevice::inspect::Utf8Implementation;
using arrowdevice::testing::Bytes;
using arrowdevice::testing::is_decodable;
using arrowdevice::testing::Random;

std::vector<Utf8Implementation> supported() {
  std::vector<Utf8Implementation> found;
  for (const auto& one : utf8_implementations()) {
    if (one.is_supported()) found.push_back(one);
  }
  return found;
}

std::string hex(const Bytes& text) {
  std::string all;
  for (const uint8_t byte : text) {
    for (const int digit : {byte / 16, byte % 16}) all += "0123456789ABCDEF"[digit];
    all += ' ';
  }
  return all;
}

// Fails if an implementation differs from the decoder. Returns the result of the decoder.
bool check_text(const Bytes& text) {
  static const auto implementations = supported();
  const bool expected = is_decodable(text);
  const auto size = static_cast<int64_t>(text.size());
  for (const auto& one : implementations) {
    if (one.is_utf8(text.data(), size) != expected)
      FAIL(one.name << " does not return " << expected << ": " << hex(text));
  }
  if (is_utf8(text.data(), size) != expected) FAIL("the check does not return " << expected << ": " << hex(text));
  return expected;
}

// Returns a valid text of this size: of letters only, or of characters of two bytes.
Bytes filler(size_t size, bool is_ascii) {
  Bytes text(size, 'a');
  for (size_t i = size % 2; !is_ascii && i < size; i += 2)
    std::copy_n("\xC3\xA9", 2, text.begin() + static_cast<long>(i));
  return text;
}

// The borders of vectors of 16 and 32 bytes and of blocks of 64 bytes.
constexpr size_t kBorders[] = {0, 16, 32, 64};

TEST_CASE("the check of UTF-8 finds errors of all pairs of bytes") {
  constexpr uint8_t kNext[] = {'a', 0x80, 0xBF, 0xC3};
  Bytes text = filler(80, true);
  for (int pair = 0; pair < 0x10000; ++pair) {
    text[62] = static_cast<uint8_t>(pair >> 8);
    text[63] = static_cast<uint8_t>(pair);
    for (const uint8_t third : kNext) {
      for (const uint8_t fourth : kNext) {
        text[64] = third;
        text[65] = fourth;
        check_text(text);
      }
    }
  }
}

TEST_CASE("the check of UTF-8 finds errors at each border of vectors and blocks") {
  constexpr uint8_t kTurns[] = {0x7F, 0x80, 0x8F, 0x90, 0xA0, 0xBF, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4};
  constexpr size_t kDigits = std::size(kTurns), kSequences = kDigits * kDigits * kDigits * kDigits;
  for (const size_t border : kBorders) {
    for (size_t begin = border == 0 ? 0 : border - 4; begin <= border; ++begin) {
      for (const bool is_ascii : {true, false}) {
        for (const size_t behind : {size_t{0}, size_t{20}}) {
          Bytes text = filler(begin, is_ascii);
          const Bytes end = filler(4 + behind, is_ascii);
          text.insert(text.end(), end.begin(), end.end());
          for (size_t sequence = 0; sequence < kSequences; ++sequence) {
            for (size_t i = 0, digits = sequence; i < 4; ++i, digits /= kDigits) {
              text[begin + i] = kTurns[digits % kDigits];
            }
            check_text(text);
          }
        }
      }
    }
  }
}

TEST_CASE("letters within a character are not valid UTF-8") {
  for (const std::string_view character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    for (size_t head = 1; head < character.size(); ++head) {
      for (size_t begin = 0; begin < 64; ++begin) {
        for (size_t letters = 1; letters < 140; ++letters) {
          Bytes text = filler(begin + head + letters, true);
          std::copy_n(character.begin(), head, text.begin() + static_cast<long>(begin));
          text.insert(text.end(), character.begin() + head, character.end());
          if (check_text(text)) FAIL("the decoder accepts " << hex(text));
        }
      }
    }
  }
}

TEST_CASE("all code points are valid UTF-8 in one text") {
  Bytes text;
  const auto add = [&](uint32_t bits) { text.push_back(static_cast<uint8_t>(bits)); };
  for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xC0 | code >> 6);
    } else if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
    }
    if (code >= 0x10000) add(0x80 | (code >> 12 & 0x3F));
    if (code >= 0x800) add(0x80 | (code >> 6 & 0x3F));
    if (code >= 0x80) add(0x80 | (code & 0x3F));
  }
  CHECK(check_text(text));
}

// Returns a text of random characters, in half of the cases with a random byte.
Bytes random_text(Random& random) {
  constexpr std::array<std::string_view, 5> kCharacters = {"a", "\xD0\x9F", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                                                           "sixteen letters."};
  const auto size = static_cast<size_t>(random.below(300));
  const int64_t kinds = 1 + random.below(kCharacters.size());
  Bytes text;
  while (text.size() < size) {
    const auto& next = kCharacters[static_cast<size_t>(random.below(kinds))];
    text.insert(text.end(), next.begin(), next.end());
  }
  if (!text.empty() && random.below(2) == 0) {
    text[static_cast<size_t>(random.below(static_cast<int64_t>(text.size())))] = static_cast<uint8_t>(random.next());
  }
  text.shrink_to_fit();  // so that a sanitizer detects a read beyond the end
  return text;
}

TEST_CASE("implementations of the check of UTF-8 agree on random texts with errors") {
  Random random(1);
  int64_t valid = 0;
  constexpr int64_t kTexts = 20'000;
  for (int64_t i = 0; i < kTexts; ++i) valid += check_text(random_text(random));
  CHECK(valid > kTexts / 4);
  CHECK(valid < kTexts * 3 / 4);
}

TEST_CASE("the check of UTF-8 in pieces does not depend on where pieces end") {
  Random random(2);
  Utf8Check pieces;
  for (int64_t i = 0; i < 20'000; ++i) {
    const Bytes text = random_text(random);
    const auto size = static_cast<int64_t>(text.size());
    const int64_t longest = 1 + random.below(100);
    for (int64_t done = 0; done < size;) {
      const int64_t piece = std::min(size - done, random.below(longest + 1));
      pieces.feed(text.data() + done, piece);
      done += piece;
    }
    if (pieces.finish() != is_decodable(text)) FAIL("pieces of " << hex(text));
  }
}

}  // namespace
