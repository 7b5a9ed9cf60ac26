// SPDX-License-Identifier: Apache-2.0
// Tests the bytes of a copy beyond its values, and sources that change during a copy.
#include <cstdlib>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr int64_t kPadding = 64;
constexpr int kStray = 0xAA;

// A pool of the CPU. It calls `before` for every allocation and fills the memory with kStray.
struct HostPool {
  explicit HostPool(std::function<void()> before_allocation) : before(std::move(before_allocation)) {
    auto options = pool_options();
    options.max_cached_bytes = -1;
    options.user = this;
    options.allocate = [](void* user, int64_t size, int64_t alignment, void*, void** out) {
      static_cast<HostPool*>(user)->before();
      const auto wanted = static_cast<size_t>((size + alignment - 1) / alignment * alignment);
      *out = std::aligned_alloc(static_cast<size_t>(alignment), wanted);
      if (*out == nullptr) return ENOMEM;
      std::memset(*out, kStray, wanted);
      return 0;
    };
    options.deallocate = [](void*, void* buffer, int64_t, void*) { std::free(buffer); };
    pool = make_pool(cpu(), &options);
  }
  std::function<void()> before;
  Pool pool;
};

// A view of 20 bytes in a variadic buffer.
struct LongView {
  int32_t size = 20;
  char prefix[4] = {'a', 'a', 'a', 'a'};
  int32_t buffer = 0;
  int32_t offset = 0;
};
static_assert(sizeof(LongView) == 16);

Data two_views() {
  const LongView views[] = {{}, {.offset = 20}};
  Buffer bytes;
  bytes.bytes.assign(40, 'a');
  Buffer slots;
  slots.bytes.resize(sizeof views);
  std::memcpy(slots.bytes.data(), views, sizeof views);
  return data_of(2, {no_buffer(), slots, bytes, buffer_of<int64_t>({40})});
}

}  // namespace

TEST_CASE("a copy refuses views that change after they were checked") {
  begin();
  const auto schema = make_schema(field("vu", "text"));
  struct Change {
    const char* name;
    LongView view;
  };
  const auto& [name, changed] = GENERATE(
      Change{"buffer", {.buffer = 1'000'000}}, Change{"negative buffer", {.buffer = -1}},
      Change{"offset", {.offset = 21}}, Change{"negative offset", {.offset = -1}},
      Change{"size", {.size = 2'000'000'000, .offset = 20}}, Change{"size beyond", {.size = 21, .offset = 20}});
  INFO(name);
  Array source = from_host(make_array(two_views(), Ledger()));
  Array second = slice(*source, *schema, 1, 1);  // the copy rewrites the views of this slice
  auto* const views = static_cast<char*>(const_cast<void*>(source->array.buffers[1]));
  HostPool host([&, change = changed] { std::memcpy(views + sizeof change, &change, sizeof change); });
  auto options = copy_options();
  options.pool = host.pool.get();
  Array out;
  arrowdevice_error error{};
  CHECK(arrowdevice_array_copy(second.get(), schema.get(), cpu(), &options, out.out(), &error) == EINVAL);
  CHECK(contains(error.message, "text: the view of slot 0 changed while it was copied"));
  CHECK(out.released());
}

TEST_CASE("a copy has its null counts if the CPU has the bitmaps") {
  begin();
  const auto schema = make_schema(
      struct_of({field("i", "ints"), field("b", "bools"), field("u", "texts"), field("vu", "views")}).not_null());
  Buffer bits;
  bits.bytes = {0b10110110, 0b11101111, 0b00011101};
  const auto column = [&](std::vector<Buffer> buffers) {
    buffers.insert(buffers.begin(), bits);
    return with_nulls(-1, data_of(20, std::move(buffers)));
  };
  Buffer values;
  values.bytes.assign(20 * 4, 1);
  Buffer offsets;
  offsets.bytes.assign(21 * 4, 0);
  Buffer views;
  views.bytes.assign(20 * 16, 0);
  const LongView view;
  std::memcpy(views.bytes.data() + 16, &view, sizeof view);
  Buffer text;
  text.bytes.assign(20, 'a');
  const Data data = data_of(20, {no_buffer()},
                            {column({values}), column({bits}), column({offsets, no_buffer()}),
                             column({views, text, buffer_of<int64_t>({20})})});
  struct Rows {
    int64_t offset, length, nulls;
  };
  const auto [first, length, nulls] = GENERATE(Rows{0, 20, 5}, Rows{3, 17, 4}, Rows{0, 3, 1}, Rows{9, 1, 0});
  Array whole = from_host(make_array(data, Ledger()));
  Array rows = slice(*whole, *schema, first, length);
  const auto expect_counts = [expected = nulls](const ArrowDeviceArray& array) {
    for (int64_t i = 0; i < array.array.n_children; ++i) {
      INFO("child " << i);
      CHECK(array.array.children[i]->null_count == expected);
    }
  };
  expect_counts(*copy(*rows, *schema, cpu()));
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("rows from " << first << " on device " << id);
    const Array there = copy(*rows, *schema, sim(id));
    expect_counts(*there);
    // The library does not count nulls on the device. The copy back counts them.
    Array uncounted = copy(*whole, *schema, sim(id));
    for (int64_t i = 0; i < 4; ++i) uncounted->array.children[i]->null_count = -1;
    Array part = slice(*uncounted, *schema, first, length);
    expect_counts(*copy(*part, *schema, cpu()));
    // The copy reads the bitmap of views to rewrite the views.
    const Array beside = copy(*part, *schema, sim(kAddresses[1]));
    if (length != 1) CHECK(beside->array.children[3]->null_count == nulls);
    CHECK(beside->array.children[0]->null_count == -1);
  }
}
