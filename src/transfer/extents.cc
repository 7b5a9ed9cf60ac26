// SPDX-License-Identifier: Apache-2.0
#include "transfer/extents.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.h"
#include "transfer/bits.h"

namespace arrowdevice::transfer {
namespace {

constexpr int64_t kNothingYet = std::numeric_limits<int64_t>::max();

// An extent that grows. It is stored as [first, end) meanwhile.
struct Growing {
  int64_t first = kNothingYet;
  int64_t end = 0;

  void include(int64_t from, int64_t to) noexcept {
    first = std::min(first, from);
    end = std::max(end, to);
  }
  Extent extent() const noexcept { return first == kNothingYet ? Extent{} : Extent{first, end - first}; }
};

}  // namespace

ViewTarget view_target(const BinaryView& view) noexcept {
  ViewTarget target;
  std::memcpy(&target.buffer, view.rest + 4, sizeof target.buffer);
  std::memcpy(&target.offset, view.rest + 8, sizeof target.offset);
  return target;
}

void set_view_offset(BinaryView& view, int32_t offset) noexcept { std::memcpy(view.rest + 8, &offset, sizeof offset); }

int64_t load_index(const uint8_t* entries, int64_t position, int width) noexcept {
  switch (width) {
    case 2: {
      int16_t value;
      std::memcpy(&value, entries + position * 2, sizeof value);
      return value;
    }
    case 4: {
      int32_t value;
      std::memcpy(&value, entries + position * 4, sizeof value);
      return value;
    }
    default: {
      int64_t value;
      std::memcpy(&value, entries + position * 8, sizeof value);
      return value;
    }
  }
}

void store_index(uint8_t* entries, int64_t position, int width, int64_t value) noexcept {
  switch (width) {
    case 2: {
      const auto narrow = static_cast<int16_t>(value);
      std::memcpy(entries + position * 2, &narrow, sizeof narrow);
      return;
    }
    case 4: {
      const auto narrow = static_cast<int32_t>(value);
      std::memcpy(entries + position * 4, &narrow, sizeof narrow);
      return;
    }
    default: std::memcpy(entries + position * 8, &value, sizeof value);
  }
}

bool Validity::is_valid(int64_t slot) const noexcept { return bits == nullptr || bit_is_set(bits, bit + slot); }

Extent offsets_extent(int64_t begin, int64_t end, int64_t length) {
  if (begin < 0 || end < begin)
    throw Error(EINVAL, "the offsets run from " + std::to_string(begin) + " to " + std::to_string(end));
  if (length >= 0 && end > length) {
    throw Error(EINVAL,
                "the offsets reach " + std::to_string(end) + ", but the child's length is " + std::to_string(length));
  }
  return {begin, end - begin};
}

Extent list_view_extent(const uint8_t* offsets, const uint8_t* sizes, int width, int64_t slots, Validity validity,
                        int64_t child_length) {
  Growing growing;
  for (int64_t slot = 0; slot < slots; ++slot) {
    if (!validity.is_valid(slot)) continue;
    const int64_t size = load_index(sizes, slot, width);
    if (size == 0) continue;
    const int64_t offset = load_index(offsets, slot, width);
    if (size < 0 || offset < 0 || offset > child_length - size) {
      throw Error(EINVAL, "slot " + std::to_string(slot) + " has offset " + std::to_string(offset) + " and size " +
                              std::to_string(size) + ", but the child's length is " + std::to_string(child_length));
    }
    growing.include(offset, offset + size);
  }
  return growing.extent();
}

int8_t union_child(uint8_t type_id, const schema::UnionMap& children) noexcept {
  return type_id < children.size() ? children[type_id] : int8_t{-1};
}

void dense_union_extents(const uint8_t* type_ids, const uint8_t* offsets, int64_t slots, int64_t lead,
                         const schema::UnionMap& children, std::span<const int64_t> child_lengths,
                         std::span<Extent> extents) {
  for (auto& extent : extents) extent = {kNothingYet, 0};  // stored as [first, end) until the end of the function
  for (int64_t slot = 0; slot < slots; ++slot) {
    const int8_t child = union_child(type_ids[slot], children);
    const int64_t offset = load_index(offsets, slot, 4);
    const int64_t length = child >= 0 ? child_lengths[static_cast<size_t>(child)] : 0;
    if (child < 0 || offset < 0 || offset >= length) {
      if (slot < lead) continue;
      const std::string where = "slot " + std::to_string(slot - lead);
      if (child < 0) throw Error(EINVAL, where + " has type id " + std::to_string(static_cast<int8_t>(type_ids[slot])));
      throw Error(EINVAL, where + " has offset " + std::to_string(offset) + ", but the length of child " +
                              std::to_string(child) + " is " + std::to_string(length));
    }
    auto& extent = extents[static_cast<size_t>(child)];
    extent.first = std::min(extent.first, offset);
    extent.count = std::max(extent.count, offset + 1);
  }
  for (auto& extent : extents) {
    extent = extent.first == kNothingYet ? Extent{} : Extent{extent.first, extent.count - extent.first};
  }
}

Extent runs_extent(const uint8_t* run_ends, int width, int64_t runs, int64_t first, int64_t count) {
  if (count == 0) return {};
  // Finds the first run that ends after a position. Run ends rise strictly.
  const auto run_after = [&](int64_t position) {
    int64_t low = 0;
    int64_t high = runs;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (load_index(run_ends, middle, width) > position) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  const int64_t begin = run_after(first);
  const int64_t last = run_after(first + count - 1);
  if (last >= runs || last < begin) {
    throw Error(EINVAL,
                "the run ends do not cover slots " + std::to_string(first) + " to " + std::to_string(first + count));
  }
  return {begin, last + 1 - begin};
}

void binary_view_extents(const uint8_t* views, int64_t slots, Validity validity, std::span<const int64_t> buffer_sizes,
                         std::span<Extent> extents) {
  for (auto& extent : extents) extent = {kNothingYet, 0};  // stored as [first, end) until the end of the function
  for (int64_t slot = 0; slot < slots; ++slot) {
    if (!validity.is_valid(slot)) continue;
    BinaryView view;
    std::memcpy(&view, views + slot * int64_t{sizeof view}, sizeof view);
    if (view.size < 0)
      throw Error(EINVAL, "slot " + std::to_string(slot) + " has a view of " + std::to_string(view.size) + " bytes");
    if (view.is_inline()) continue;
    const auto target = view_target(view);
    if (target.buffer < 0 || static_cast<size_t>(target.buffer) >= buffer_sizes.size()) {
      throw Error(EINVAL, "slot " + std::to_string(slot) + " refers to variadic buffer " +
                              std::to_string(target.buffer) + " of " +
                              std::to_string(static_cast<int64_t>(buffer_sizes.size())));
    }
    const auto i = static_cast<size_t>(target.buffer);
    const int64_t end = int64_t{target.offset} + view.size;
    if (target.offset < 0 || end > buffer_sizes[i]) {
      throw Error(EINVAL, "slot " + std::to_string(slot) + " refers to bytes " + std::to_string(target.offset) +
                              " to " + std::to_string(end) + " of variadic buffer " + std::to_string(target.buffer) +
                              ", which has " + std::to_string(buffer_sizes[i]));
    }
    extents[i].first = std::min<int64_t>(extents[i].first, target.offset);
    extents[i].count = std::max(extents[i].count, end);
  }
  for (auto& extent : extents) {
    extent = extent.first == kNothingYet ? Extent{} : Extent{extent.first, extent.count - extent.first};
  }
}

}  // namespace arrowdevice::transfer
