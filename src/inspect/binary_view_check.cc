// SPDX-License-Identifier: Apache-2.0
#include "inspect/binary_view_check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace arrowdevice::inspect {

using schema::BufferShape;
using transfer::BinaryView;

namespace {

constexpr int64_t kViewBytes = sizeof(BinaryView);
constexpr int64_t kViewPrefix = 4;
constexpr int64_t kFirstVariadic = 2;  // after validity and views
constexpr int64_t kGroupViews = 64;

uint64_t load_word(const uint8_t* bytes) noexcept {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Returns true if a byte behind an inline text is not zero. `rest` are the twelve bytes of the view.
bool has_bytes_behind(const uint8_t* rest, int32_t size) noexcept {
  constexpr size_t kMost = BinaryView::kMostInline;
  static constexpr auto kZerosAndOnes = [] {
    std::array<uint8_t, 2 * kMost> bytes = {};
    std::fill(bytes.begin() + kMost, bytes.end(), uint8_t{0xFF});
    return bytes;
  }();
  const uint8_t* const mask = kZerosAndOnes.data() + kMost - static_cast<size_t>(size);
  return ((load_word(rest) & load_word(mask)) | (load_word(rest + kMost - 8) & load_word(mask + kMost - 8))) != 0;
}

}  // namespace

// The data of a view: a range of a window that is read at once.
struct BinaryViewCheck::ViewRange {
  int64_t slot;
  size_t window;
  int64_t begin;  // in the window
  int64_t size;
  std::optional<std::array<uint8_t, kViewPrefix>> prefix;  // the prefix that the data must have
  bool is_last;
};

// The data that is checked next. Adjacent data, which is the usual case, shares a window.
struct BinaryViewCheck::Batch {
  bool is_text;
  Utf8Check text = {};
  std::vector<DataRange> windows = {};
  std::vector<ViewRange> ranges = {};
  int64_t bytes = 0;

  static constexpr size_t kMostRanges = 64 << 10;
  static constexpr size_t kMostWindows = 4 << 10;
  static constexpr int64_t kGap = 64;  // gaps up to this size are read too

  bool is_full() const {
    return kPieceBytes - bytes < kViewPrefix || ranges.size() == kMostRanges || windows.size() == kMostWindows;
  }

  // Adds a range, and returns its offset in the last window.
  int64_t add(const void* data, int64_t offset, int64_t size) {
    if (!windows.empty()) {
      auto& last = windows.back();
      if (last.buffer == data && offset >= last.offset && offset - last.offset <= last.size + kGap) {
        const int64_t grown = std::max<int64_t>(offset + size - last.offset - last.size, 0);
        last.size += grown;
        bytes += grown;
        return offset - last.offset;
      }
    }
    windows.push_back({data, offset, size});
    bytes += size;
    return 0;
  }
};

void BinaryViewCheck::check(int32_t field) {
  const auto& array = array_[field];
  const std::vector<int64_t> sizes = variadic_sizes(field);
  Batch batch{std::string_view(array_.tree()[field].source->format) == "vu"};
  in_pieces(array.length, kViewBytes, [&](int64_t first, int64_t count) {
    const transfer::Validity valid = validity_.read(field, first, count);
    const auto* const views = index_.read(
        {array_.buffer(field, BufferShape::kViews), (array.offset + first) * kViewBytes, count * kViewBytes});
    for (int64_t i = 0, end; i < count; i = end) {
      end = std::min(i + kGroupViews, count);
      if (data_.in_place() && are_valid(field, views + i * kViewBytes, end - i, sizes, batch.is_text)) continue;
      for (; i < end; ++i) {
        if (!valid.is_valid(i)) continue;
        BinaryView view;
        std::memcpy(&view, views + i * kViewBytes, sizeof view);
        check_slot(field, first + i, view, sizes, batch);
      }
      if (data_.in_place()) check_batch(field, batch);
    }
  });
  check_batch(field, batch);
}

// Returns true if all views, those under nulls too, are valid. The CPU reads their data in place.
bool BinaryViewCheck::are_valid(int32_t field, const uint8_t* views, int64_t count, const std::vector<int64_t>& sizes,
                                bool is_text) const {
  const auto buffers = array_.buffers(field).subspan(kFirstVariadic);
  BinaryView texts[kGroupViews];                   // inline ones, between sizes, which are ASCII
  const uint8_t *begin = nullptr, *end = nullptr;  // of adjacent long texts
  bool are_valid = true;
  for (int64_t i = 0; i < count; ++i) {
    BinaryView& view = texts[i];
    std::memcpy(&view, views + i * kViewBytes, sizeof view);
    if (view.is_inline()) {
      if (view.size < 0) return false;
      are_valid &= !has_bytes_behind(views + i * kViewBytes + offsetof(BinaryView, rest), view.size);
      continue;
    }
    const auto target = transfer::view_target(view);
    const auto buffer = static_cast<size_t>(target.buffer);
    if (buffer >= sizes.size() || target.offset < 0 || target.offset > sizes[buffer] - view.size) return false;
    const auto* const data = static_cast<const uint8_t*>(buffers[buffer]) + target.offset;
    are_valid &= std::memcmp(data, view.rest, kViewPrefix) == 0 && (!is_text || begins_character(*data));
    if (data != end) {
      are_valid &= !is_text || is_utf8(begin, end - begin);
      begin = data;
    }
    end = data + view.size;
    view = {};
  }
  return are_valid && (!is_text || (is_utf8(begin, end - begin) &&
                                    is_utf8(reinterpret_cast<const uint8_t*>(texts), count * kViewBytes)));
}

void BinaryViewCheck::check_slot(int32_t field, int64_t slot, const BinaryView& view, const std::vector<int64_t>& sizes,
                                 Batch& batch) {
  try {
    check_view(field, slot, view, sizes, batch.is_text);
  } catch (const Error&) {
    check_batch(field, batch);  // an earlier slot may be wrong too
    throw;
  }
  if (!view.is_inline()) add_to_batch(field, slot, view, batch);
}

// Checks a view without its data in a buffer.
void BinaryViewCheck::check_view(int32_t field, int64_t slot, const BinaryView& view, const std::vector<int64_t>& sizes,
                                 bool is_text) const {
  if (view.size < 0) refuse_slot(array_, field, slot, "has length " + std::to_string(view.size));
  if (view.is_inline()) {
    if (has_bytes_behind(view.rest, view.size)) {
      refuse_slot(array_, field, slot, "is inline, and bytes behind it are not zero");
    }
    if (is_text && !is_utf8(view.rest, view.size)) refuse_slot(array_, field, slot, "is not UTF-8");
    return;
  }
  const auto target = transfer::view_target(view);
  const auto n = static_cast<int64_t>(sizes.size());
  if (target.buffer < 0 || target.buffer >= n) {
    refuse_slot(array_, field, slot,
                "is in buffer " + std::to_string(target.buffer) + ", and there are " + std::to_string(n));
  }
  const int64_t size = sizes[static_cast<size_t>(target.buffer)];
  if (target.offset < 0 || target.offset > size - view.size) {
    refuse_slot(array_, field, slot,
                "has offset " + std::to_string(target.offset) + " and length " + std::to_string(view.size) +
                    ", and buffer " + std::to_string(target.buffer) + " has " + std::to_string(size) + " bytes");
  }
}

void BinaryViewCheck::add_to_batch(int32_t field, int64_t slot, const BinaryView& view, Batch& batch) {
  const auto target = transfer::view_target(view);
  const void* const data = array_.buffers(field)[static_cast<size_t>(kFirstVariadic + target.buffer)];
  const int64_t wanted = batch.is_text ? view.size : kViewPrefix;
  for (int64_t done = 0; done < wanted;) {
    if (batch.is_full()) check_batch(field, batch);
    const int64_t size = std::min(wanted - done, kPieceBytes - batch.bytes);
    const int64_t begin = batch.add(data, target.offset + done, size);
    ViewRange range{slot, batch.windows.size() - 1, begin, size, std::nullopt, done + size == wanted};
    if (done == 0) std::memcpy(range.prefix.emplace().data(), view.rest, kViewPrefix);
    batch.ranges.push_back(range);
    done += size;
  }
}

// Checks the data of the batch, and empties it.
void BinaryViewCheck::check_batch(int32_t field, Batch& batch) {
  std::vector<const uint8_t*> found(batch.windows.size());
  data_.read(batch.windows.data(), batch.windows.size(), found.data());
  for (const auto& range : batch.ranges) {
    const uint8_t* const bytes = found[range.window] + range.begin;
    if (range.prefix && std::memcmp(bytes, range.prefix->data(), kViewPrefix) != 0) {
      refuse_slot(array_, field, range.slot, "has a prefix that its data does not begin with");
    }
    if (!batch.is_text) continue;
    batch.text.feed(bytes, range.size);
    if (range.is_last && !batch.text.finish()) refuse_slot(array_, field, range.slot, "is not UTF-8");
  }
  batch.windows.clear();
  batch.ranges.clear();
  batch.bytes = 0;
}

std::vector<int64_t> BinaryViewCheck::variadic_sizes(int32_t field) {
  const int64_t n = array_.n_variadic(field);
  std::vector<int64_t> sizes(static_cast<size_t>(n));
  if (n == 0) return sizes;
  const void* const buffer = array_.buffers(field).back();
  const auto* const entries = sizes_on_host_ ? static_cast<const uint8_t*>(buffer) : index_.read({buffer, 0, n * 8});
  for (int64_t i = 0; i < n; ++i) {
    const int64_t size = transfer::load_index(entries, i, 8);
    if (size < 0)
      array_.refuse(field, "variadic buffer " + std::to_string(i) + " has " + std::to_string(size) + " bytes");
    const void* const data = array_.buffers(field)[static_cast<size_t>(kFirstVariadic + i)];
    if (size > 0 && data == nullptr) {
      array_.refuse(field,
                    "variadic buffer " + std::to_string(i) + " has " + std::to_string(size) + " bytes and is NULL");
    }
    if (const int64_t there = data != nullptr ? places_.room(data, size) : 0; size > there) {
      array_.refuse(field, "variadic buffer " + std::to_string(i) + " has " + std::to_string(size) +
                               " bytes, and its memory ends after " + std::to_string(there));
    }
    sizes[static_cast<size_t>(i)] = size;
  }
  return sizes;
}

}  // namespace arrowdevice::inspect
