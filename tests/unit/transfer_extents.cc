// SPDX-License-Identifier: Apache-2.0
#include "transfer/extents.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/catch.h"

namespace {

using namespace arrowdevice::transfer;  // NOLINT: what is tested
using arrowdevice::Error;
using arrowdevice::schema::UnionMap;

constexpr int64_t kMost64 = std::numeric_limits<int64_t>::max();
constexpr int32_t kMost32 = std::numeric_limits<int32_t>::max();

// Index entries of a given width, at an odd address, in memory of exactly their size.
class Entries {
 public:
  Entries(int width, const std::vector<int64_t>& values) : bytes_(values.size() * static_cast<size_t>(width) + 1) {
    for (size_t i = 0; i < values.size(); ++i) store_index(get(), static_cast<int64_t>(i), width, values[i]);
  }
  uint8_t* get() { return bytes_.data() + 1; }

 private:
  std::vector<uint8_t> bytes_;
};

template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    CHECK(e.code() == EINVAL);
    return e.message();
  }
  FAIL_CHECK("nothing was refused");
  return {};
}

bool has(const std::string& text, const char* part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("entries of every width are stored and loaded at any address") {
  for (const int width : {2, 4, 8}) {
    for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{32'767}, int64_t{-32'768}}) {
      Entries entries(width, {7, value, 9});
      CHECK(load_index(entries.get(), 1, width) == value);
      CHECK(load_index(entries.get(), 0, width) == 7);
      CHECK(load_index(entries.get(), 2, width) == 9);
    }
  }
  Entries wide(8, {kMost64});
  CHECK(load_index(wide.get(), 0, 8) == kMost64);
}

TEST_CASE("offsets that run backwards, begin below zero or leave the child are refused") {
  CHECK(offsets_extent(3, 10, 10) == Extent{3, 7});
  CHECK(offsets_extent(5, 5, 5) == Extent{5, 0});
  CHECK(offsets_extent(3, kMost64, -1) == Extent{3, kMost64 - 3});
  CHECK(has(refusal([] { offsets_extent(-1, 3, 10); }), "from -1 to 3"));
  CHECK(has(refusal([] { offsets_extent(4, 3, 10); }), "from 4 to 3"));
  CHECK(has(refusal([] { offsets_extent(4, 11, 10); }), "length is 10"));
}

TEST_CASE("a list view's extent spans its valid slots that are not empty, in any order") {
  for (const int width : {4, 8}) {
    Entries offsets(width, {7, 2, -5, 90, 4, 0});
    Entries sizes(width, {2, 1, 0, 50, 3, 0});
    const uint8_t valid = 0b110111;  // slot 3 is null and holds garbage
    CHECK(list_view_extent(offsets.get(), sizes.get(), width, 6, {&valid, 0}, 9) == Extent{2, 7});
    CHECK(list_view_extent(offsets.get(), sizes.get(), width, 0, {}, 0) == Extent{});
    const std::string why = refusal([&] { list_view_extent(offsets.get(), sizes.get(), width, 6, {}, 9); });
    CHECK(has(why, "slot 3 has offset 90 and size 50"));
    CHECK(has(refusal([&] { list_view_extent(offsets.get(), sizes.get(), width, 1, {}, 8); }), "slot 0"));
  }
}

TEST_CASE("a list view whose position and size overflow together is refused") {
  Entries offsets(8, {kMost64});
  Entries sizes(8, {kMost64});
  CHECK(has(refusal([&] { list_view_extent(offsets.get(), sizes.get(), 8, 1, {}, kMost64); }), "slot 0"));
  Entries negative(4, {-2});
  Entries one(4, {1});
  CHECK(has(refusal([&] { list_view_extent(one.get(), negative.get(), 4, 1, {}, 10); }), "size -2"));
  CHECK(has(refusal([&] { list_view_extent(negative.get(), one.get(), 4, 1, {}, 10); }), "offset -2"));
}

TEST_CASE("a validity bitmap is read from any bit") {
  const uint8_t bits[] = {0b10000000, 0b00000001};
  const Validity validity{bits, 7};
  CHECK(validity.is_valid(0));
  CHECK(validity.is_valid(1));
  CHECK_FALSE(validity.is_valid(2));
  CHECK(Validity{}.is_valid(1'000'000));
}

TEST_CASE("each child of a dense union has the extent of its own slots") {
  UnionMap children;
  children.fill(-1);
  children[5] = 0;
  children[127] = 1;
  children[3] = 2;
  const uint8_t ids[] = {127, 5, 127, 5};
  Entries offsets(4, {9, 3, 7, 4});
  std::vector<Extent> extents(3, Extent{99, 99});
  const std::vector<int64_t> lengths{5, 10, 0};
  dense_union_extents(ids, offsets.get(), 4, 0, children, lengths, extents);
  CHECK(extents[0] == Extent{3, 2});
  CHECK(extents[1] == Extent{7, 3});
  CHECK(extents[2] == Extent{});

  const std::vector<int64_t> shorter{4, 10, 0};
  CHECK(has(refusal([&] { dense_union_extents(ids, offsets.get(), 4, 0, children, shorter, extents); }), "slot 3"));
  const uint8_t unknown[] = {6};
  CHECK(has(refusal([&] { dense_union_extents(unknown, offsets.get(), 1, 0, children, lengths, extents); }),
            "type id 6"));
  const uint8_t negative[] = {0xFF};
  CHECK(has(refusal([&] { dense_union_extents(negative, offsets.get(), 1, 0, children, lengths, extents); }),
            "type id -1"));
  Entries below(4, {-1});
  CHECK(has(refusal([&] { dense_union_extents(ids, below.get(), 1, 0, children, lengths, extents); }), "offset -1"));
}

TEST_CASE("slots before a dense union's rows count only if their offsets are valid") {
  UnionMap children;
  children.fill(-1);
  children[4] = 0;
  const uint8_t ids[] = {4, 99, 4, 4, 4, 4};
  Entries offsets(4, {2, 0, 77, -1, 5, 6});
  std::vector<Extent> extents(1);
  const std::vector<int64_t> lengths{10};
  dense_union_extents(ids, offsets.get(), 6, 4, children, lengths, extents);
  CHECK(extents[0] == Extent{2, 5});
  CHECK(has(refusal([&] { dense_union_extents(ids, offsets.get(), 6, 3, children, lengths, extents); }), "offset -1"));
}

TEST_CASE("an extent of runs covers the slots") {
  for (const int width : {2, 4, 8}) {
    Entries ends(width, {3, 4, 10});
    CHECK(runs_extent(ends.get(), width, 3, 0, 10) == Extent{0, 3});
    CHECK(runs_extent(ends.get(), width, 3, 2, 1) == Extent{0, 1});
    CHECK(runs_extent(ends.get(), width, 3, 2, 2) == Extent{0, 2});
    CHECK(runs_extent(ends.get(), width, 3, 3, 1) == Extent{1, 1});
    CHECK(runs_extent(ends.get(), width, 3, 4, 6) == Extent{2, 1});
    CHECK(runs_extent(ends.get(), width, 3, 9, 0) == Extent{});
    CHECK(has(refusal([&] { runs_extent(ends.get(), width, 3, 9, 2); }), "do not cover slots 9 to 11"));
    CHECK(has(refusal([&] { runs_extent(ends.get(), width, 0, 0, 1); }), "do not cover"));
  }
}

TEST_CASE("run ends that do not rise are refused or give an extent inside the runs") {
  for (const std::vector<int64_t>& wrong : {std::vector<int64_t>{9, 1, 2, 10}, {-1, -5, 3, 2}, {10, 10, 10, 0}}) {
    Entries ends(4, wrong);
    for (int64_t first = 0; first < 12; ++first) {
      for (int64_t count = 1; count < 12; ++count) {
        Extent extent;
        try {
          extent = runs_extent(ends.get(), 4, 4, first, count);
        } catch (const Error& e) {
          CHECK(e.code() == EINVAL);
        }
        REQUIRE(extent.first >= 0);
        REQUIRE(extent.count >= 0);
        REQUIRE(extent.first + extent.count <= 4);
      }
    }
  }
}

BinaryView long_view(int32_t size, int32_t buffer, int32_t offset) {
  BinaryView view{};
  view.size = size;
  std::memcpy(view.rest + 4, &buffer, sizeof buffer);
  set_view_offset(view, offset);
  return view;
}

TEST_CASE("a variadic buffer is needed if a valid long view refers to it") {
  BinaryView short_view{};
  short_view.size = 12;
  std::memset(short_view.rest, 0xFF, sizeof short_view.rest);  // text instead of a reference
  const std::vector<BinaryView> views{long_view(20, 1, 30), short_view, long_view(13, 1, 5), long_view(99, 9, 9)};
  const auto* bytes = reinterpret_cast<const uint8_t*>(views.data());
  const std::vector<int64_t> sizes{40, 50};
  std::vector<Extent> extents(2, Extent{99, 99});
  const uint8_t valid = 0b0111;  // slot 3 is null and holds garbage
  binary_view_extents(bytes, 4, {&valid, 0}, sizes, extents);
  CHECK(extents[0] == Extent{});
  CHECK(extents[1] == Extent{5, 45});

  CHECK(has(refusal([&] { binary_view_extents(bytes, 4, {}, sizes, extents); }), "slot 3 refers to variadic buffer 9"));
  const std::vector<int64_t> shorter{40, 49};
  CHECK(has(refusal([&] { binary_view_extents(bytes, 1, {}, shorter, extents); }), "bytes 30 to 50"));
}

TEST_CASE("views that refer outside of all buffers are refused") {
  const std::vector<int64_t> sizes{int64_t{kMost32} + 100};
  std::vector<Extent> extents(1);
  const auto refused = [&](BinaryView view) {
    return refusal([&] { binary_view_extents(reinterpret_cast<const uint8_t*>(&view), 1, {}, sizes, extents); });
  };
  CHECK(has(refused(long_view(-1, 0, 0)), "-1 bytes"));
  CHECK(has(refused(long_view(13, -1, 0)), "variadic buffer -1"));
  CHECK(has(refused(long_view(13, 0, -1)), "bytes -1 to"));
  CHECK(has(refused(long_view(kMost32, 0, kMost32)), "of variadic buffer 0"));
}

}  // namespace
