// SPDX-License-Identifier: Apache-2.0
// The bytes of a fuzzer, read as decisions. After their end every further decision is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace fuzz {

class Input {
 public:
  Input(const uint8_t* bytes, size_t size) noexcept : left_(bytes, size) {}

  uint8_t byte() noexcept {
    if (left_.empty()) return 0;
    const uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }

  // Returns a number from 0 to n - 1; n is at most 65536.
  int64_t below(int64_t n) noexcept {
    const int64_t low = byte();
    return (n <= 256 ? low : low | int64_t{byte()} << 8) % n;
  }

  bool flag() noexcept { return byte() % 2 != 0; }

  // Returns a number at which errors are likely.
  int64_t number() noexcept {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
    constexpr int64_t kTurns[] = {
        0,          1,           2,         7,         8,     9,      31,        32,       33,
        63,         64,          65,        127,       128,   255,    256,       32767,    65535,
        kMost32,    kMost32 + 1, 1 << 20,   -1,        -2,    -8,     -128,      -kMost32, -kMost32 - 1,
        kMost / 64, kMost / 8,   kMost / 2, kMost - 1, kMost, -kMost, -kMost - 1};
    const uint8_t way = byte();
    if (way < 64) return way;
    if (way < 192) return kTurns[way % std::size(kTurns)];
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | byte();
    return static_cast<int64_t>(bits);
  }

  // Returns a text without a zero byte.
  std::string text(int64_t most) {
    std::string made;
    for (int64_t left = below(most + 1); left > 0; --left) {
      const uint8_t next = byte();
      if (next == 0) break;
      made += static_cast<char>(next);
    }
    return made;
  }

  template <typename Range>
  auto& pick(Range& range) noexcept {
    return range[static_cast<size_t>(below(static_cast<int64_t>(std::size(range))))];
  }

 private:
  std::span<const uint8_t> left_;
};

}  // namespace fuzz
