// SPDX-License-Identifier: Apache-2.0
// Tests sub-buffers on devices with handles: tables with the same layout reuse them, and none is leaked.
#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr int64_t kDevice = kHandles[0];

// Returns a table. Its size does not depend on the order of the two middle columns.
Field table(const char* second, const char* third = "f") {
  return struct_of({field("l"), field(second), field(third), field("l")});
}

TEST_CASE("a table of the same layout reuses the sub-buffers of the one before it") {
  begin();
  Sample first(table("g"));
  Sample second(table("g"));
  copy(first, sim(kDevice));
  const int64_t made = control::calls("sub_buffer_create");
  CHECK(made > 0);
  const Array there = copy(second, sim(kDevice));
  CHECK(control::calls("sub_buffer_create") == made);
  CHECK(control::calls("sub_buffer_destroy") == 0);
  CHECK(difference(second, *there) == "");
}

TEST_CASE("two tables at the same time have their own sub-buffers") {
  begin();
  Sample first(table("g"));
  Sample second(table("g"));
  const Array one = copy(first, sim(kDevice));
  const int64_t made = control::calls("sub_buffer_create");
  const Array other = copy(second, sim(kDevice));
  CHECK(control::calls("sub_buffer_create") == 2 * made);
  CHECK(difference(first, *one) == "");
  CHECK(difference(second, *other) == "");
}

TEST_CASE("a table of another layout replaces the cached sub-buffers") {
  begin();
  Sample one(table("g", "f"));
  Sample other(table("f", "g"));
  copy(one, sim(kDevice));
  const int64_t made = control::calls("sub_buffer_create");
  const Array there = copy(other, sim(kDevice));
  const int64_t freed = control::calls("sub_buffer_destroy");
  CHECK(control::calls("sub_buffer_create") > made);
  CHECK(freed > 0);
  CHECK(freed < made);  // sub-buffers before the first different column are reused
  CHECK(difference(other, *there) == "");
}

TEST_CASE("sub-buffers are destroyed before their memory") {
  begin();
  Sample sample(table("g"));
  copy(sample, sim(kDevice));
  CHECK(control::calls("sub_buffer_destroy") == 0);
  must(arrowdevice_pool_trim, default_pool(sim(kDevice)));
  CHECK(control::calls("sub_buffer_destroy") == control::calls("sub_buffer_create"));
  CHECK(control::counters(kDevice).bytes_live == 0);
  CHECK(control::refused() == 0);
}

TEST_CASE("a failed sub-buffer fails the whole copy, and a second copy succeeds") {
  begin();
  Sample sample(table("g"));
  control::fail_nth("sub_buffer_create", 2);
  Array out;
  arrowdevice_error error{};
  CHECK(arrowdevice_array_copy(sample.host.get(), sample.schema.get(), sim(kDevice), nullptr, out.out(), &error) ==
        EIO);
  CHECK(contains(error.message, "sub_buffer_create"));
  control::fail_no_more();
  const Array there = copy(sample, sim(kDevice));
  CHECK(difference(sample, *there) == "");
  CHECK(control::refused() == 0);
}

}  // namespace
