// SPDX-License-Identifier: Apache-2.0
#include "transfer/bits.h"

#include <cstddef>

#include "support/catch.h"
#include "support/generator.h"

namespace {

using arrowdevice::testing::Random;
using arrowdevice::transfer::bit_is_set;
using arrowdevice::transfer::copy_bits;

using Bits = std::vector<uint8_t>;

// Returns a buffer of exactly the bytes that the bits need, so that the address sanitizer sees a read past
// the end.
Bits random_bits(int64_t bits, uint64_t seed) {
  Random random(seed);
  Bits made(static_cast<size_t>((bits + 7) / 8));
  for (auto& byte : made) byte = static_cast<uint8_t>(random.next());
  return made;
}

bool is_copy(const Bits& target, const Bits& source, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (bit_is_set(target.data(), i) != bit_is_set(source.data(), first + i)) return false;
  }
  for (int64_t i = count; i < (count + 7) / 8 * 8; ++i) {
    if (bit_is_set(target.data(), i)) return false;
  }
  return true;
}

TEST_CASE("any number of bits is copied from any position, and the last byte is padded") {
  for (int64_t first = 0; first < 24; ++first) {
    for (int64_t count = 0; count <= 300; ++count) {
      const Bits source = random_bits(first + count, static_cast<uint64_t>(first * 1'000 + count));
      Bits target(static_cast<size_t>((count + 7) / 8), 0xFF);
      copy_bits(source.data(), first, count, target.data());
      INFO("from " << first << ", " << count << " bits");
      REQUIRE(is_copy(target, source, first, count));
    }
  }
}

TEST_CASE("bits can be copied onto themselves") {
  for (int64_t first = 0; first < 24; ++first) {
    for (int64_t count = 0; count <= 300; ++count) {
      const Bits source = random_bits(first + count, static_cast<uint64_t>(first * 1'000 + count));
      Bits both = source;
      copy_bits(both.data(), first, count, both.data());
      INFO("from " << first << ", " << count << " bits");
      REQUIRE(is_copy(both, source, first, count));
    }
  }
}

TEST_CASE("a copy of 0 bits accepts NULL") {
  copy_bits(nullptr, 0, 0, nullptr);
  uint8_t untouched = 0x5A;
  copy_bits(&untouched, 3, 0, &untouched);
  CHECK(untouched == 0x5A);
}

TEST_CASE("bytes after the byte of the last bit are unchanged") {
  const Bits source(64, 0xFF);
  for (int64_t first = 0; first < 8; ++first) {
    for (int64_t count = 1; count <= 200; ++count) {
      Bits target(64, 0x5A);
      copy_bits(source.data(), first, count, target.data());
      INFO("from " << first << ", " << count << " bits");
      for (auto byte = static_cast<size_t>((count + 7) / 8); byte < target.size(); ++byte)
        REQUIRE(target[byte] == 0x5A);
    }
  }
}

}  // namespace
