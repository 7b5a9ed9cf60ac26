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
  std::vector<DataRange> windows;
  std::vector<ViewRange> ranges;
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
  const bool is_text = std::string_view(array_.tree()[field].source->format) == "vu";
  Utf8Check text;
  Batch batch;
  const auto flush = [&] {
    check_batch(field, batch, is_text, text);
    batch = {};
  };
  in_pieces(array.length, kViewBytes, [&](int64_t first, int64_t count) {
    const transfer::Validity valid = validity_.read(field, first, count);
    const auto* const views = index_.read(
        {array_.buffer(field, BufferShape::kViews), (array.offset + first) * kViewBytes, count * kViewBytes});
    for (int64_t i = 0; i < count; ++i) {
      if (!valid.is_valid(i)) continue;
      BinaryView view;
      std::memcpy(&view, views + i * kViewBytes, sizeof view);
      check_view(field, first + i, view, sizes);
      if (view.is_inline()) {
        Utf8Check inline_check;
        inline_check.feed(view.rest, view.size);
        if (is_text && !inline_check.finish()) refuse_slot(array_, field, first + i, "is not UTF-8");
        continue;
      }
      const auto target = transfer::view_target(view);
      const void* const data = array_.buffers(field)[static_cast<size_t>(kFirstVariadic + target.buffer)];
      const int64_t wanted = is_text ? view.size : kViewPrefix;
      for (int64_t done = 0; done < wanted;) {
        if (batch.is_full()) flush();
        const int64_t size = std::min(wanted - done, kPieceBytes - batch.bytes);
        const int64_t begin = batch.add(data, target.offset + done, size);
        ViewRange range{first + i, batch.windows.size() - 1, begin, size, std::nullopt, done + size == wanted};
        if (done == 0) std::memcpy(range.prefix.emplace().data(), view.rest, kViewPrefix);
        batch.ranges.push_back(range);
        done += size;
      }
    }
  });
  flush();
}

void BinaryViewCheck::check_view(int32_t field, int64_t slot, const BinaryView& view,
                                 const std::vector<int64_t>& sizes) const {
  if (view.size < 0) refuse_slot(array_, field, slot, "has length " + std::to_string(view.size));
  if (view.is_inline()) {
    const auto* const unused = view.rest + view.size;
    if (std::any_of(unused, std::end(view.rest), [](uint8_t byte) { return byte != 0; })) {
      refuse_slot(array_, field, slot, "is inline, and bytes behind it are not zero");
    }
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

void BinaryViewCheck::check_batch(int32_t field, const Batch& batch, bool is_text, Utf8Check& text) {
  std::vector<const uint8_t*> found(batch.windows.size());
  data_.read(batch.windows.data(), batch.windows.size(), found.data());
  for (const auto& range : batch.ranges) {
    const uint8_t* const bytes = found[range.window] + range.begin;
    if (range.prefix && std::memcmp(bytes, range.prefix->data(), kViewPrefix) != 0) {
      refuse_slot(array_, field, range.slot, "has a prefix that its data does not begin with");
    }
    if (!is_text) continue;
    text.feed(bytes, range.size);
    if (range.is_last && !text.finish()) refuse_slot(array_, field, range.slot, "is not UTF-8");
  }
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
