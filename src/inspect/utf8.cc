// SPDX-License-Identifier: Apache-2.0
#include "inspect/utf8.h"

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace arrowdevice::inspect {
namespace {

// Returns the number of bytes of a character by its first byte.
constexpr int64_t character_size(uint8_t first) noexcept {
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

// -- one character after the other

// Returns the number of leading ASCII bytes, in words of eight bytes.
int64_t ascii_words(const uint8_t* bytes, int64_t size) noexcept {
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  int64_t done = 0;
  for (uint64_t word; size - done >= 8; done += 8) {
    std::memcpy(&word, bytes + done, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  return done;
}

// Returns the size of the character with which the bytes begin, or 0 if it is not valid. `size` > 0.
int64_t valid_character(const uint8_t* bytes, int64_t size) noexcept {
  const uint8_t first = bytes[0];
  if (first < 0x80) return 1;
  const int64_t n = character_size(first);
  if (first < 0xC2 || first > 0xF4 || n > size) return 0;
  // Table 3-7 of the Unicode standard: the second bytes that may follow the first byte.
  const uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (bytes[1] < least || bytes[1] > most) return 0;
  const bool is_whole = std::none_of(bytes + 2, bytes + n, begins_character);
  return is_whole ? n : 0;
}

bool is_utf8_by_characters(const uint8_t* bytes, int64_t size) noexcept {
  for (int64_t done = 0; (done += ascii_words(bytes + done, size - done)) < size;) {
    const int64_t n = valid_character(bytes + done, size - done);
    if (n == 0) return false;
    done += n;
  }
  return true;
}

// -- many bytes at once

#if defined(__x86_64__) || defined(__aarch64__)

// An error that two adjacent bytes show. Each member is a set of hexadecimal digits: bit n stands for the digit n. The
// bytes have the error if each of these digits is in its set.
struct PairError {
  uint16_t first_high, first_low, second_high;
};
constexpr uint16_t kAscii = 0x00FF, kContinuation = 0x0F00, kFirst = 0xF000, kAny = 0xFFFF;
constexpr PairError kPairErrors[] = {
    {kFirst, kAny, kAscii | kFirst},       // a character that is too short
    {kAscii, kAny, kContinuation},         // a continuation byte after ASCII
    {1 << 0xC, 0x0003, kContinuation},     // an overlong form of two bytes
    {1 << 0xE, 0x0001, 0x0300},            // an overlong form of three bytes
    {1 << 0xE, 1 << 0xD, 0x0C00},          // a surrogate
    {1 << 0xF, 0xFFF0, 0x0E00},            // above U+10FFFF from 0xF4 0x90 on
    {1 << 0xF, 0xFFE1, 0x0100},            // an overlong form of four bytes, and above U+10FFFF from 0xF5 0x80 on
    {kContinuation, kAny, kContinuation},  // not an error in the third and fourth place of a character
};
constexpr uint8_t kTwoContinuations = 1 << 7;

// Returns for each digit the errors whose set has it. An error is the bit of its row.
constexpr std::array<uint8_t, 16> errors_of(uint16_t PairError::*digits) noexcept {
  std::array<uint8_t, 16> errors = {};
  for (unsigned digit = 0; digit < 16; ++digit) {
    for (unsigned row = 0; row < std::size(kPairErrors); ++row) {
      errors[digit] |= static_cast<uint8_t>((kPairErrors[row].*digits >> digit & 1) << row);
    }
  }
  return errors;
}
alignas(16) constexpr auto kErrorsOfFirstHigh = errors_of(&PairError::first_high);
alignas(16) constexpr auto kErrorsOfFirstLow = errors_of(&PairError::first_low);
alignas(16) constexpr auto kErrorsOfSecondHigh = errors_of(&PairError::second_high);

#endif

#if defined(__x86_64__)

namespace ssse3 {

#define VECTOR_CODE __attribute__((target("ssse3")))
using Bytes = uint8_t __attribute__((vector_size(16)));

VECTOR_CODE inline Bytes look_up(const std::array<uint8_t, 16>& table, Bytes index) noexcept {
  return reinterpret_cast<Bytes>(
      _mm_shuffle_epi8(*reinterpret_cast<const __m128i*>(table.data()), reinterpret_cast<__m128i>(index)));
}

template <int n>
VECTOR_CODE inline Bytes shift_in(Bytes before, Bytes input) noexcept {
  return reinterpret_cast<Bytes>(
      _mm_alignr_epi8(reinterpret_cast<__m128i>(input), reinterpret_cast<__m128i>(before), 16 - n));
}

VECTOR_CODE inline bool is_ascii(Bytes bytes) noexcept {
  return _mm_movemask_epi8(reinterpret_cast<__m128i>(bytes)) == 0;
}

#include "inspect/utf8_vectors.inc"
#undef VECTOR_CODE

bool is_supported() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_SSSE3) != 0;
}

}  // namespace ssse3

namespace avx2 {

#define VECTOR_CODE __attribute__((target("avx2")))
using Bytes = uint8_t __attribute__((vector_size(32)));

VECTOR_CODE inline Bytes look_up(const std::array<uint8_t, 16>& table, Bytes index) noexcept {
  const __m256i both = _mm256_broadcastsi128_si256(*reinterpret_cast<const __m128i*>(table.data()));
  return reinterpret_cast<Bytes>(_mm256_shuffle_epi8(both, reinterpret_cast<__m256i>(index)));
}

template <int n>
VECTOR_CODE inline Bytes shift_in(Bytes before, Bytes input) noexcept {
  const auto high = reinterpret_cast<__m256i>(input);
  const __m256i middle = _mm256_permute2x128_si256(reinterpret_cast<__m256i>(before), high, 0x21);
  return reinterpret_cast<Bytes>(_mm256_alignr_epi8(high, middle, 16 - n));
}

VECTOR_CODE inline bool is_ascii(Bytes bytes) noexcept {
  return _mm256_movemask_epi8(reinterpret_cast<__m256i>(bytes)) == 0;
}

#include "inspect/utf8_vectors.inc"
#undef VECTOR_CODE

// The system must save the wide registers too. __builtin_cpu_supports() would run code while the library is loaded.
bool is_supported() noexcept {
  constexpr unsigned kSavedRegisters = 0b110;  // of SSE and AVX
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_OSXSAVE) == 0) return false;
  __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  if ((eax & kSavedRegisters) != kSavedRegisters) return false;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & bit_AVX2) != 0;
}

}  // namespace avx2

#elif defined(__aarch64__)

namespace neon {

#define VECTOR_CODE
using Bytes = uint8x16_t;

inline Bytes look_up(const std::array<uint8_t, 16>& table, Bytes index) noexcept {
  return vqtbl1q_u8(vld1q_u8(table.data()), index);
}

template <int n>
inline Bytes shift_in(Bytes before, Bytes input) noexcept {
  return vextq_u8(before, input, 16 - n);
}

inline bool is_ascii(Bytes bytes) noexcept { return vmaxvq_u8(bytes) < 0x80; }

#include "inspect/utf8_vectors.inc"
#undef VECTOR_CODE

}  // namespace neon

#endif

bool is_always_supported() noexcept { return true; }

constexpr Utf8Implementation kImplementations[] = {
#if defined(__x86_64__)
    {"AVX2", avx2::is_utf8, avx2::is_supported},
    {"SSSE3", ssse3::is_utf8, ssse3::is_supported},
#elif defined(__aarch64__)
    {"NEON", neon::is_utf8, is_always_supported},
#endif
    {"characters", is_utf8_by_characters, is_always_supported},
};

// Returns the number of bytes at the end that begin a character and do not end it.
int64_t unfinished_bytes(const uint8_t* bytes, int64_t size) noexcept {
  for (int64_t n = 1; n <= std::min<int64_t>(size, 3); ++n) {
    const uint8_t byte = bytes[size - n];
    if (begins_character(byte)) return character_size(byte) > n ? n : 0;
  }
  return 0;
}

}  // namespace

std::span<const Utf8Implementation> utf8_implementations() noexcept { return kImplementations; }

bool is_utf8(const uint8_t* bytes, int64_t size) noexcept {
  static const Utf8Implementation& chosen = *std::find_if(std::begin(kImplementations), std::end(kImplementations),
                                                          [](const auto& one) { return one.is_supported(); });
  // Vectors cost more than they save for short texts.
  constexpr int64_t kShortAscii = 64, kShort = 16;
  const int64_t done = size < kShortAscii ? ascii_words(bytes, size) : 0;
  if (size - done < kShort) return is_utf8_by_characters(bytes + done, size - done);
  return chosen.is_utf8(bytes + done, size - done);
}

void Utf8Check::feed(const uint8_t* bytes, int64_t size) noexcept {
  for (; n_begun_ > 0 && size > 0; ++bytes, --size) {
    begun_[n_begun_++] = *bytes;
    if (n_begun_ < character_size(begun_[0])) continue;
    is_valid_ = is_valid_ && is_utf8(begun_, n_begun_);
    n_begun_ = 0;
  }
  const int64_t n = unfinished_bytes(bytes, size);
  is_valid_ = is_valid_ && is_utf8(bytes, size - n);
  std::copy_n(bytes + size - n, n, begun_ + n_begun_);
  n_begun_ += n;
}

}  // namespace arrowdevice::inspect
