// SPDX-License-Identifier: Apache-2.0
#include "inspect/text_check.h"

#include <algorithm>
#include <cstring>

#include "inspect/utf8.h"
#include "transfer/extents.h"

namespace arrowdevice::inspect {
namespace {

constexpr int64_t kGroupSlots = 1024;

// Returns true if a character begins at each offset. `data` is the byte at offset `base`.
template <typename Offset>
bool begin_characters(const uint8_t* offsets, int64_t first, int64_t end, const uint8_t* data, int64_t base) noexcept {
  bool do_begin = true;
  for (int64_t i = first; i < end; ++i) {
    Offset offset;
    std::memcpy(&offset, offsets + i * static_cast<int64_t>(sizeof offset), sizeof offset);
    do_begin &= begins_character(data[offset - base]);
  }
  return do_begin;
}

}  // namespace

struct TextCheck::Texts {
  const uint8_t* offsets;
  int width;
  const void* bytes;
  int64_t end;  // of all texts

  int64_t begin_of(int64_t slot) const noexcept { return transfer::load_index(offsets, slot, width); }

  // Returns true if all slots, nulls too, have valid texts. The window has all of them.
  bool are_valid(int64_t first, int64_t last, const Window& window) const noexcept {
    const int64_t base = begin_of(first);
    const uint8_t* const data = window.at(base);
    if (!is_utf8(data, begin_of(last) - base)) return false;
    // Behind the last byte there may be no memory.
    while (last > first && begin_of(last - 1) == begin_of(last)) --last;
    return width == 4 ? begin_characters<int32_t>(offsets, first, last, data, base)
                      : begin_characters<int64_t>(offsets, first, last, data, base);
  }
};

void TextCheck::check(int32_t field, int64_t first, int64_t count, const uint8_t* offsets, int width,
                      const void* bytes) {
  const transfer::Validity valid = validity_.read(field, first, count);
  const Texts texts{offsets, width, bytes, transfer::load_index(offsets, count, width)};
  Window window;
  for (int64_t slot = 0; slot < count;) {
    const int64_t begin = texts.begin_of(slot);
    if (begin == texts.end) return;
    if (!valid.is_valid(slot)) {
      ++slot;
      continue;
    }
    if (begin >= window.end) read_window(texts, begin, window);
    int64_t next = std::min(slot + kGroupSlots, count);
    while (next > slot && texts.begin_of(next) > window.end) next = slot + (next - slot) / 2;
    if (next > slot && texts.are_valid(slot, next, window)) {
      slot = next;
      continue;
    }
    // One of them is not valid or under a null, or the window ends within the first.
    for (next = std::max(next, slot + 1); slot < next; ++slot) {
      if (valid.is_valid(slot) && !is_text(texts, slot, window)) {
        refuse_slot(array_, field, first + slot, "is not UTF-8");
      }
    }
  }
}

void TextCheck::read_window(const Texts& texts, int64_t begin, Window& window) {
  const int64_t size = std::min(texts.end - begin, kPieceBytes);
  window = {data_.read({texts.bytes, begin, size}), begin, begin + size};
}

bool TextCheck::is_text(const Texts& texts, int64_t slot, Window& window) {
  Utf8Check check;
  const int64_t end = texts.begin_of(slot + 1);
  for (int64_t at = texts.begin_of(slot); at < end;) {
    if (at >= window.end) read_window(texts, at, window);
    const int64_t size = std::min(end, window.end) - at;
    check.feed(window.at(at), size);
    at += size;
  }
  return check.finish();
}

}  // namespace arrowdevice::inspect
