// SPDX-License-Identifier: Apache-2.0
#include "schema/layout.h"

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/catch.h"

namespace arrowdevice::schema {
namespace {

using enum BufferShape;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int code_of_buffer_bytes(const Type& type, BufferShape shape, int64_t slots) {
  try {
    buffer_bytes(type, shape, slots);
    return 0;
  } catch (const Error& error) {
    return error.code();
  }
}

struct Expected {
  Layout layout;
  std::string name;
  std::vector<BufferShape> buffers;
  ReferenceKind refers;
  int offset_bytes;
  bool has_validity;
  int64_t legacy_buffers;
  int n_children;
};

}  // namespace

TEST_CASE("every layout names its buffers, child range, offsets and children") {
  const int any = LayoutInfo::kAnyNumber;
  const std::vector<Expected> table = {
      {Layout::kNull, "null", {}, ReferenceKind::kNone, 0, false, 1, 0},
      {Layout::kFixed, "fixed-width", {kValidity, kValues}, ReferenceKind::kNone, 0, true, -1, 0},
      {Layout::kBinary, "binary", {kValidity, kOffsets, kBytes}, ReferenceKind::kOffsets, 4, true, -1, 0},
      {Layout::kLargeBinary, "large binary", {kValidity, kOffsets, kBytes}, ReferenceKind::kOffsets, 8, true, -1, 0},
      {Layout::kBinaryView,
       "binary view",
       {kValidity, kViews, kVariadic, kVariadicSizes},
       ReferenceKind::kBinaryViews,
       0,
       true,
       -1,
       0},
      {Layout::kList, "list", {kValidity, kOffsets}, ReferenceKind::kOffsets, 4, true, -1, 1},
      {Layout::kLargeList, "large list", {kValidity, kOffsets}, ReferenceKind::kOffsets, 8, true, -1, 1},
      {Layout::kListView,
       "list view",
       {kValidity, kSlotOffsets, kSlotSizes},
       ReferenceKind::kListViews,
       4,
       true,
       -1,
       1},
      {Layout::kLargeListView,
       "large list view",
       {kValidity, kSlotOffsets, kSlotSizes},
       ReferenceKind::kListViews,
       8,
       true,
       -1,
       1},
      {Layout::kFixedSizeList, "fixed-size list", {kValidity}, ReferenceKind::kScaled, 0, true, -1, 1},
      {Layout::kStruct, "struct", {kValidity}, ReferenceKind::kIdentity, 0, true, -1, any},
      {Layout::kSparseUnion, "sparse union", {kTypeIds}, ReferenceKind::kIdentity, 0, false, 2, any},
      {Layout::kDenseUnion, "dense union", {kTypeIds, kSlotOffsets}, ReferenceKind::kTypeIds, 4, false, 3, any},
      {Layout::kRunEndEncoded, "run-end encoded", {}, ReferenceKind::kRunEnds, 0, false, -1, 2},
  };
  for (const Expected& expected : table) {
    const LayoutInfo& info = layout_info(expected.layout);
    CAPTURE(expected.name);
    CHECK(info.name == expected.name);
    CHECK(std::vector(info.buffers.begin(), info.buffers.end()) == expected.buffers);
    CHECK(info.refers == expected.refers);
    CHECK(info.offset_bytes == expected.offset_bytes);
    CHECK(info.has_validity == expected.has_validity);
    CHECK(info.legacy_buffers == expected.legacy_buffers);
    CHECK(info.n_children == expected.n_children);
  }
}

TEST_CASE("buffers have the roles of the public header and a name for messages") {
  struct {
    BufferShape shape;
    uint32_t role;
    std::string name;
  } const table[] = {
      {kValidity, ARROWDEVICE_ROLE_VALIDITY, "validity"},
      {kValues, ARROWDEVICE_ROLE_DATA, "data"},
      {kOffsets, ARROWDEVICE_ROLE_OFFSETS, "offsets"},
      {kSlotOffsets, ARROWDEVICE_ROLE_OFFSETS, "offsets"},
      {kSlotSizes, ARROWDEVICE_ROLE_SIZES, "sizes"},
      {kTypeIds, ARROWDEVICE_ROLE_TYPE_IDS, "type ids"},
      {kViews, ARROWDEVICE_ROLE_VIEWS, "views"},
      {kBytes, ARROWDEVICE_ROLE_DATA, "data"},
      {kVariadic, ARROWDEVICE_ROLE_VARIADIC, "variadic"},
      {kVariadicSizes, ARROWDEVICE_ROLE_VARIADIC_SIZES, "variadic sizes"},
  };
  for (const auto& expected : table) {
    CAPTURE(expected.name);
    CHECK(buffer_role(expected.shape) == expected.role);
    CHECK(buffer_name(expected.shape) == expected.name);
  }
}

TEST_CASE("the size of a buffer follows from the number of slots") {
  const Type boolean{.layout = Layout::kFixed, .bit_width = 1};
  const Type int64{.layout = Layout::kFixed, .bit_width = 64};
  const Type empty{.layout = Layout::kFixed, .bit_width = 0};
  const Type odd{.layout = Layout::kFixed, .bit_width = 24};
  const Type binary{.layout = Layout::kBinary};
  const Type large_binary{.layout = Layout::kLargeBinary};
  const Type list_view{.layout = Layout::kListView};
  const Type large_list_view{.layout = Layout::kLargeListView};
  const Type dense_union{.layout = Layout::kDenseUnion};
  const Type view{.layout = Layout::kBinaryView};

  CHECK(buffer_bytes(int64, kValidity, 0) == 0);
  CHECK(buffer_bytes(int64, kValidity, 8) == 1);
  CHECK(buffer_bytes(int64, kValidity, 9) == 2);
  CHECK(buffer_bytes(int64, kValues, 9) == 72);
  CHECK(buffer_bytes(boolean, kValues, 9) == 2);
  CHECK(buffer_bytes(empty, kValues, 9) == 0);
  CHECK(buffer_bytes(odd, kValues, 3) == 9);
  CHECK(buffer_bytes(binary, kOffsets, 0) == 4);
  CHECK(buffer_bytes(binary, kOffsets, 9) == 40);
  CHECK(buffer_bytes(large_binary, kOffsets, 9) == 80);
  CHECK(buffer_bytes(list_view, kSlotOffsets, 9) == 36);
  CHECK(buffer_bytes(list_view, kSlotSizes, 9) == 36);
  CHECK(buffer_bytes(large_list_view, kSlotOffsets, 9) == 72);
  CHECK(buffer_bytes(large_list_view, kSlotSizes, 9) == 72);
  CHECK(buffer_bytes(dense_union, kTypeIds, 9) == 9);
  CHECK(buffer_bytes(dense_union, kSlotOffsets, 9) == 36);
  CHECK(buffer_bytes(view, kViews, 9) == 144);
}

TEST_CASE("the size of a buffer that depends on data is -1") {
  CHECK(buffer_bytes({.layout = Layout::kBinary}, kBytes, 9) == -1);
  CHECK(buffer_bytes({.layout = Layout::kBinaryView}, kVariadic, 9) == -1);
  CHECK(buffer_bytes({.layout = Layout::kBinaryView}, kVariadicSizes, 9) == -1);
}

TEST_CASE("a buffer size that 64 bits do not hold is EINVAL") {
  const Type int64{.layout = Layout::kFixed, .bit_width = 64};
  const Type boolean{.layout = Layout::kFixed, .bit_width = 1};
  CHECK(code_of_buffer_bytes(int64, kValues, kMost / 8 + 1) == EINVAL);
  CHECK(code_of_buffer_bytes({.layout = Layout::kBinary}, kOffsets, kMost) == EINVAL);
  CHECK(code_of_buffer_bytes({.layout = Layout::kLargeBinary}, kOffsets, kMost / 8) == EINVAL);
  CHECK(code_of_buffer_bytes({.layout = Layout::kListView}, kSlotSizes, kMost / 4 + 1) == EINVAL);
  CHECK(code_of_buffer_bytes({.layout = Layout::kBinaryView}, kViews, kMost / 16 + 1) == EINVAL);
  CHECK(code_of_buffer_bytes(int64, kValues, -1) == EINVAL);
  CHECK(code_of_buffer_bytes(int64, kValidity, -1) == EINVAL);

  // The number of bytes fits in 64 bits although the number of bits does not.
  CHECK(buffer_bytes(int64, kValues, kMost / 8) == kMost / 8 * 8);
  CHECK(buffer_bytes(boolean, kValues, kMost) == kMost / 8 + 1);
  CHECK(buffer_bytes(boolean, kValidity, kMost) == kMost / 8 + 1);
}

}  // namespace arrowdevice::schema
