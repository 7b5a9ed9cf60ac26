// SPDX-License-Identifier: Apache-2.0
#include "schema/layout.h"

#include <array>
#include <cassert>
#include <cstddef>

namespace arrowdevice::schema {
namespace {

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

}  // namespace

uint32_t buffer_role(BufferShape shape) noexcept { return shape_info(shape).role; }

const char* buffer_name(BufferShape shape) noexcept { return shape_info(shape).name; }

}  // namespace arrowdevice::schema
