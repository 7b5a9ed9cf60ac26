// SPDX-License-Identifier: Apache-2.0
// Tests drivers that describe memory differently from its allocation. Some report each of several adjacent
// mappings alone, and some report a device that no backend can open. This is a separate program, because a
// backend is registered once per process.
#include <algorithm>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr int64_t kPiece = 4096;

decltype(arrowdevice_backend::pointer_get_info) describe_whole = nullptr;
decltype(arrowdevice_backend::pointer_get_info) describe_now = nullptr;

int describe_piece(void* device, const void* buffer, arrowdevice_pointer_info* out, arrowdevice_error* error) {
  const int code = describe_whole(device, buffer, out, error);
  if (code != 0 || out->base == nullptr) return code;
  auto* const begin = static_cast<char*>(out->base);
  const int64_t before = (static_cast<const char*>(buffer) - begin) / kPiece * kPiece;
  out->base = begin + before;
  out->size = std::min(kPiece, out->size - before);
  return 0;
}

int describe_elsewhere(void* device, const void* buffer, arrowdevice_pointer_info* out, arrowdevice_error* error) {
  const int code = describe_whole(device, buffer, out, error);
  if (code == 0 && out->base != nullptr) out->device_id = 77;
  return code;
}

void begin_describing(decltype(describe_now) describe) {
  control::reset(configuration());
  describe_now = describe;
  static const int registered = [] {
    static arrowdevice_backend table = *control::table();
    describe_whole = table.pointer_get_info;
    table.pointer_get_info = [](void* device, const void* buffer, auto* out, auto* error) {
      return describe_now(device, buffer, out, error);
    };
    return arrowdevice_backend_register(&table, nullptr);
  }();
  REQUIRE(registered == 0);
}

TEST_CASE("memory of a device that cannot be opened is not on the array's device") {
  begin_describing(describe_elsewhere);
  const Sample sample(field("l"));
  const Array there = copy(sample, sim(0));
  must_fail_saying(EINVAL, "77", arrowdevice_array_validate, there.get(), sample.schema.get(), nullptr,
                   ARROWDEVICE_VALIDATE_FULL);
}

TEST_CASE("a buffer over several mappings is as large as all of them") {
  begin_describing(describe_piece);
  Sample sample(field("l").not_null(), {.rows = 3'000});  // six pieces
  Array there = copy(sample, sim(0));
  must(arrowdevice_array_validate, there.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
  there->array.length = 10'000'000;
  must_fail_saying(EINVAL, "array: the data buffer needs 80000000 bytes, and its memory ends after",
                   arrowdevice_array_validate, there.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
}

}  // namespace
