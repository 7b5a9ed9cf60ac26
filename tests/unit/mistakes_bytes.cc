// SPDX-License-Identifier: Apache-2.0
// Tests mistakes that existing implementations make with bytes, memory and cost. Each test is named after the
// mistake that it rules out.
#include <cstdlib>

#include "library.h"
#include "support/callback.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

TEST_CASE("mistake 3: a copy includes variadic buffers of views and sizes of list views") {
  begin();
  for (const Field& type : {field("vu"), list_view_of(field("vu")), large_list_view_of(field("i")),
                            struct_of({field("vz"), list_view_of(field("c"))})}) {
    for (const int variadic : {0, 1, 3}) {
      Sample sample(type, {.rows = 60, .variadic = variadic, .longest_text = 40});
      INFO(type.format << ", " << variadic << " variadic buffers");
      Held engine(0);
      const Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
      engine.resume();
      // Releases the host's memory before the copy is read.
      must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
      sample.host.reset();
      const Array on = copy(*there, *sample.schema, sim(kHandles[0]));
      CHECK(difference(sample, *on) == "");
      if (type.format == "vu") CHECK(on->array.n_buffers == sample.twin->n_buffers);
      if (type.format == "+vL") {
        CHECK(on->array.n_buffers == 3);
        CHECK(on->array.buffers[2] != nullptr);
      }
    }
  }
}

TEST_CASE("mistake 4: a successful move gives the array") {
  for (const Peers peers : {Peers::kNone, Peers::kCopy, Peers::kAccess}) {
    begin(configuration(peers));
    for (int64_t from = -1; from < kSims; ++from) {
      for (int64_t to = -1; to < kSims; ++to) {
        INFO("from " << from << " to " << to);
        Sample sample(mixed_batch(), {.rows = 20});
        Array there = from < 0 ? std::move(sample.host) : copy(sample, sim(from));
        Array moved =
            output_of(arrowdevice_array_to_device, there.get(), sample.schema.get(), to < 0 ? cpu() : sim(to), nullptr);
        CHECK(there.released());
        REQUIRE_FALSE(moved.released());
        CHECK(moved->device_type == (to < 0 ? ARROW_DEVICE_CPU : ARROW_DEVICE_EXT_DEV));
        CHECK(moved->device_id == to);
        CHECK(difference(sample, *moved) == "");
      }
    }
  }
  begin();
  Sample sample(field("l"));
  Array out;
  const auto never = copy_options(ARROWDEVICE_COPY_NEVER);
  must_fail(ENOTSUP, arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0), &never, out.out());
  CHECK(out.released());
  CHECK_FALSE(sample.host.released());
}

TEST_CASE("mistake 7: a copy of a slice copies only the slice's rows") {
  begin();
  constexpr int64_t kRows = 20'000;
  Sample sample(struct_of({field("l"), field("u"), list_of(field("u")), field("b"), field("vu"),
                           dense_union_of("0,1", {field("i"), field("u")}), run_end_encoded("i", field("u"))})
                    .not_null(),
                {.rows = kRows});
  Array whole = copy(sample, sim(0));
  const int64_t all = control::counters(0).bytes_in;
  Array host_slice = slice(*sample.host, *sample.schema, kRows / 2, 10);
  Array there = copy(*host_slice, *sample.schema, sim(1));
  // Views may refer to distant bytes, so the copy may have some extra bytes. Offsets and values must not.
  const int64_t in = control::counters(1).bytes_in;
  CHECK(in < all / 10);
  CHECK(difference(sample, *there, kRows / 2) == "");
  Array device_slice = slice(*whole, *sample.schema, kRows / 2, 10);
  const int64_t before = control::counters(0).bytes_out;
  const Array back = copy(*device_slice, *sample.schema, cpu());
  CHECK(control::counters(0).bytes_out - before < all / 4);
  CHECK(difference(sample, *back, kRows / 2) == "");
}

TEST_CASE("mistake 8: a copy allocates, submits and waits once for all buffers") {
  begin();
  std::vector<Field> columns;
  for (int i = 0; i < 200; ++i) columns.push_back(field(i % 2 == 0 ? "i" : "u"));
  Sample sample(struct_of(std::move(columns)).not_null(), {.rows = 20});
  const Array there = copy(sample, sim(0));
  auto counted = control::counters(0);
  CHECK(counted.allocations == 1);
  CHECK(counted.copies == 1);
  CHECK(counted.events_recorded == 1);
  CHECK(counted.host_waits <= 1);
  const Array back = copy(*there, *sample.schema, cpu());
  counted = control::counters(0);
  CHECK(counted.copies == 3);  // the copy to the device, the sizes, the copy back
  CHECK(counted.host_waits <= 3);
  CHECK(difference(sample, *back) == "");
}

// Records the size of each buffer that the device would have to allocate.
struct Allocator {
  std::vector<int64_t> sizes;
  static int allocate(void* user, int64_t size, int64_t, void*, void** out) {
    enter_callback("allocate of a pool");
    static_cast<Allocator*>(user)->sizes.push_back(size);
    *out = std::malloc(static_cast<size_t>(size));
    return *out == nullptr ? ENOMEM : 0;
  }
  static void deallocate(void*, void* buffer, int64_t, void*) {
    enter_callback("deallocate of a pool");
    std::free(buffer);
  }
};

TEST_CASE("mistake 16: the library does not ask the driver for 0 bytes") {
  begin();
  Allocator allocator;
  auto options = pool_options();
  options.allocate = Allocator::allocate;
  options.deallocate = Allocator::deallocate;
  options.user = &allocator;
  const Pool pool = make_pool(cpu(), &options);
  auto copying = copy_options();
  copying.pool = pool.get();
  for (const Field& type : {field("n"), field("l"), struct_of({}), field("w:0"), fixed_size_list_of(0, field("l")),
                            struct_of({field("n"), field("l")}), sparse_union_of("0", {field("l")}),
                            run_end_encoded("i", field("l")), field("vu")}) {
    Sample sample(type, {.rows = 0, .nulls = Nulls::kNone});
    INFO(type.format);
    const int64_t calls = control::calls("buffer_allocate") + control::calls("queue_copy");
    const Array there = copy(sample, sim(0));
    CHECK(control::calls("buffer_allocate") + control::calls("queue_copy") == calls);
    CHECK(there->sync_event == nullptr);
    const Array back = copy(*there, *sample.schema, cpu(), copying);
    CHECK(allocator.sizes.empty());
    CHECK(back->array.length == 0);
    CHECK(difference(sample, *there) == "");
  }
  // Strings without rows have one offset, so their buffer has some bytes.
  Sample strings(field("u"), {.rows = 0});
  const Array there = copy(strings, sim(0));
  CHECK(there->array.buffers[1] != nullptr);
  CHECK(difference(strings, *there) == "");
}

}  // namespace
