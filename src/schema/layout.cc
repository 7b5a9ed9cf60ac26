// SPDX-License-Identifier: Apache-2.0
#include "schema/layout.h"

#include <array>
#include <cassert>
#include <cstddef>

#include "base/checked.h"

namespace arrowdevice::schema {
namespace {

using enum BufferShape;

constexpr BufferShape kFixedBuffers[] = {kValidity, kValues};
constexpr BufferShape kBinaryBuffers[] = {kValidity, kOffsets, kBytes};
constexpr BufferShape kBinaryViewBuffers[] = {kValidity, kViews, kVariadic, kVariadicSizes};
constexpr BufferShape kListBuffers[] = {kValidity, kOffsets};
constexpr BufferShape kListViewBuffers[] = {kValidity, kSlotOffsets, kSlotSizes};
constexpr BufferShape kValidityAlone[] = {kValidity};
constexpr BufferShape kSparseUnionBuffers[] = {kTypeIds};
constexpr BufferShape kDenseUnionBuffers[] = {kTypeIds, kSlotOffsets};

constexpr int kAny = LayoutInfo::kAnyNumber;

// In the order of Layout. The columns: name, buffers, what slots refer to, bytes of an offset, validity, legacy
// buffers, children.
constexpr std::array<LayoutInfo, 14> kLayouts = {{
    {"null", {}, Refers::kNowhere, 0, false, 1, 0},
    {"fixed-width", kFixedBuffers, Refers::kNowhere, 0, true, -1, 0},
    {"binary", kBinaryBuffers, Refers::kOffsets, 4, true, -1, 0},
    {"large binary", kBinaryBuffers, Refers::kOffsets, 8, true, -1, 0},
    {"binary view", kBinaryViewBuffers, Refers::kBinaryViews, 0, true, -1, 0},
    {"list", kListBuffers, Refers::kOffsets, 4, true, -1, 1},
    {"large list", kListBuffers, Refers::kOffsets, 8, true, -1, 1},
    {"list view", kListViewBuffers, Refers::kListViews, 4, true, -1, 1},
    {"large list view", kListViewBuffers, Refers::kListViews, 8, true, -1, 1},
    {"fixed-size list", kValidityAlone, Refers::kTimes, 0, true, -1, 1},
    {"struct", kValidityAlone, Refers::kSame, 0, true, -1, kAny},
    {"sparse union", kSparseUnionBuffers, Refers::kSame, 0, false, 2, kAny},
    {"dense union", kDenseUnionBuffers, Refers::kTypeIds, 4, false, 3, kAny},
    {"run-end encoded", {}, Refers::kRunEnds, 0, false, -1, 2},
}};

struct ShapeInfo {
  uint32_t role;
  const char* name;
};

// In the order of BufferShape.
constexpr std::array<ShapeInfo, 10> kShapes = {{
    {ARROWDEVICE_ROLE_VALIDITY, "validity"},
    {ARROWDEVICE_ROLE_DATA, "data"},
    {ARROWDEVICE_ROLE_OFFSETS, "offsets"},
    {ARROWDEVICE_ROLE_OFFSETS, "offsets"},
    {ARROWDEVICE_ROLE_SIZES, "sizes"},
    {ARROWDEVICE_ROLE_TYPE_IDS, "type ids"},
    {ARROWDEVICE_ROLE_VIEWS, "views"},
    {ARROWDEVICE_ROLE_DATA, "data"},
    {ARROWDEVICE_ROLE_VARIADIC, "variadic"},
    {ARROWDEVICE_ROLE_VARIADIC_SIZES, "variadic sizes"},
}};

const ShapeInfo& shape_info(BufferShape shape) noexcept {
  const auto index = static_cast<size_t>(shape);
  assert(index < kShapes.size());
  return kShapes[index];
}

// Multiplies whole bytes where it can: a size may fit 64 bits when its number of bits does not.
int64_t value_bytes(int64_t bit_width, int64_t slots) {
  if (bit_width % 8 == 0) return checked_mul(slots, bit_width / 8);
  return bytes_for_bits(checked_mul(slots, bit_width));
}

}  // namespace

const LayoutInfo& layout_info(Layout layout) noexcept {
  const auto index = static_cast<size_t>(layout);
  assert(index < kLayouts.size());
  return kLayouts[index];
}

uint32_t buffer_role(BufferShape shape) noexcept { return shape_info(shape).role; }

const char* buffer_name(BufferShape shape) noexcept { return shape_info(shape).name; }

int64_t buffer_bytes(const Type& type, BufferShape shape, int64_t slots) {
  if (slots < 0) throw Error(EINVAL, "a number of slots is negative");
  switch (shape) {
    case kValidity: return bytes_for_bits(slots);
    case kValues: return value_bytes(type.bit_width, slots);
    case kOffsets: return checked_mul(checked_add(slots, 1), type.info().offset_bytes);
    case kSlotOffsets:
    case kSlotSizes: return checked_mul(slots, type.info().offset_bytes);
    case kTypeIds: return slots;
    case kViews: return checked_mul(slots, 16);
    case kBytes:
    case kVariadic:
    case kVariadicSizes: break;
  }
  return -1;
}

}  // namespace arrowdevice::schema
