// SPDX-License-Identifier: Apache-2.0
// Fuzzes the checks of UTF-8. Each implementation must agree with a decoder that reads one character after the other.
// So must the check of a text that arrives in pieces.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "check.h"
#include "input.h"
#include "inspect/utf8.h"
#include "support/utf8.h"

namespace {

using namespace arrowdevice::inspect;

// Returns a text of valid characters, many of them the first or last of their size, with a few mistakes.
std::string text_of(fuzz::Input& input) {
  constexpr std::string_view kCharacters[] = {
      "a",
      "eight by",
      "sixteen letters.",
      "\x7F",
      "\xC2\x80",
      "\xDF\xBF",
      "\xE0\xA0\x80",
      "\xED\x9F\xBF",
      "\xEE\x80\x80",
      "\xEF\xBF\xBF",
      "\xF0\x90\x80\x80",
      "\xF4\x8F\xBF\xBF",
  };
  // Each has one mistake: it is just too long, a surrogate, or above the last code point.
  constexpr std::string_view kWrong[] = {
      "\xC1\xBF",         "\xE0\x9F\xBF",     "\xED\xA0\x80",     "\xED\xBF\xBF",
      "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
  };
  std::string text;
  for (int64_t left = input.below(100); left > 0; --left) {
    const int64_t kind = input.below(64);
    if (kind == 63) {
      text += static_cast<char>(input.byte());
    } else {
      text += kind == 62 ? input.pick(kWrong) : input.pick(kCharacters);
    }
  }
  return text;
}

bool is_valid_in_pieces(fuzz::Input& input, const uint8_t* text, int64_t size) {
  Utf8Check check;
  for (int64_t done = 0; done < size;) {
    const int64_t piece = std::min(size - done, 1 + input.below(100));
    check.feed(text + done, piece);
    done += piece;
  }
  return check.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzz::Input input(bytes, size);
  const std::string made = text_of(input);
  // Has the exact length, so that a sanitizer detects a read beyond it.
  const std::unique_ptr<uint8_t[]> text(new uint8_t[made.size()]);
  std::copy(made.begin(), made.end(), text.get());
  const auto length = static_cast<int64_t>(made.size());
  const bool expected = arrowdevice::testing::is_decodable({text.get(), made.size()});
  for (const auto& one : utf8_implementations()) {
    if (!one.is_supported()) continue;
    if (one.is_utf8(text.get(), length) != expected)
      fuzz::fail(std::string("a text is checked wrongly by ") + one.name);
  }
  fuzz::check(is_utf8(text.get(), length) == expected, "a text is checked wrongly");
  fuzz::check(is_valid_in_pieces(input, text.get(), length) == expected, "a text in pieces is checked wrongly");
  return 0;
}
