// SPDX-License-Identifier: Apache-2.0
// Fuzzes format strings. The library must read the same as an independent reader. It must refuse every
// other string with a message.
#include <cerrno>
#include <string>

#include "base/error.h"
#include "check.h"
#include "input.h"
#include "schema/format.h"
#include "support/shape.h"

namespace {

using arrowdevice::schema::Layout;
using arrowdevice::schema::ParsedFormat;
using arrowdevice::testing::Kind;
using arrowdevice::testing::Shape;

Kind kind_of(Layout layout) {
  switch (layout) {
    case Layout::kNull: return Kind::kNull;
    case Layout::kFixed: return Kind::kFixed;
    case Layout::kBinary:
    case Layout::kLargeBinary: return Kind::kBinary;
    case Layout::kBinaryView: return Kind::kView;
    case Layout::kList:
    case Layout::kLargeList: return Kind::kList;
    case Layout::kListView:
    case Layout::kLargeListView: return Kind::kListView;
    case Layout::kFixedSizeList: return Kind::kFixedSizeList;
    case Layout::kStruct: return Kind::kStruct;
    case Layout::kSparseUnion: return Kind::kSparseUnion;
    case Layout::kDenseUnion: return Kind::kDenseUnion;
    case Layout::kRunEndEncoded: return Kind::kRunEndEncoded;
  }
  fuzz::fail("a layout without a name");
}

void check_same(const ParsedFormat& parsed, const Shape& shape) {
  fuzz::check(kind_of(parsed.type.layout) == shape.kind, "another layout");
  if (shape.kind == Kind::kFixed) fuzz::check(parsed.type.bit_width == shape.bits, "another width");
  if (shape.kind == Kind::kFixedSizeList) fuzz::check(parsed.type.list_size == shape.list_size, "another list size");
  if (!shape.is_union()) return;
  fuzz::check(parsed.n_type_ids == static_cast<int64_t>(shape.type_ids.size()), "another number of type ids");
  for (size_t child = 0; child < shape.type_ids.size(); ++child) {
    const auto id = static_cast<size_t>(shape.type_ids[child]);
    fuzz::check((*parsed.union_map)[id] == static_cast<int>(child), "a type id of another child");
  }
}

// Returns a format. Random texts are seldom formats, so most begin like a format.
std::string format_of(fuzz::Input& input) {
  constexpr const char* kBeginnings[] = {"",   "w:", "d:", "+w:", "+ud:", "+us:", "tss:", "tsm:", "tsu:",  "tsn:",
                                         "ts", "tt", "td", "tD",  "ti",   "+",    "v",    "+v",   "d:38,", "+us:1,"};
  return input.pick(kBeginnings) + input.text(60);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzz::Input input(bytes, size);
  const std::string format = format_of(input);
  ParsedFormat parsed;
  try {
    parsed = arrowdevice::schema::parse_format(format);
  } catch (const arrowdevice::Error& error) {
    fuzz::check(error.code() == EINVAL || error.code() == ENOTSUP, "refused with another code");
    fuzz::check(!error.message().empty(), "refused without a reason");
    return 0;
  }
  check_same(parsed, arrowdevice::testing::shape_of(format));
  return 0;
}
