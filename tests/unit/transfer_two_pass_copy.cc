// SPDX-License-Identifier: Apache-2.0
// Tests copies on the CPU in two passes against the copy engine, which copies if the caller gives a queue.
#include <algorithm>
#include <array>
#include <memory>
#include <thread>

#include "base/kept_blocks.h"
#include "library.h"
#include "support/cases.h"
#include "transfer/two_pass_copy.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::transfer::HostField;
using arrowdevice::transfer::HostFields;
using arrowdevice::transfer::HostTotals;
using arrowdevice::transfer::measure;
using arrowdevice::transfer::write;
namespace kept_blocks = arrowdevice::kept_blocks;

constexpr int64_t kPaddingOfCopies = 64;

// Returns the number of copies that the copy engine has not made.
int64_t copies_in_two_passes() { return kept_blocks::stats().arrays; }

int64_t padded(int64_t size) { return (size + kPaddingOfCopies - 1) / kPaddingOfCopies * kPaddingOfCopies; }

// Compares the numbers of two nodes, and their buffers with the padding.
bool same_node(const arrowdevice_node& a, const arrowdevice_node& b) {
  if (a.length != b.length || a.offset != b.offset || a.null_count != b.null_count || a.n_buffers != b.n_buffers ||
      a.array->null_count != b.array->null_count || a.array->n_buffers != b.array->n_buffers ||
      a.n_children != b.n_children) {
    return false;
  }
  for (int32_t i = 0; i < a.n_buffers; ++i) {
    if ((a.buffers[i].data == nullptr) != (b.buffers[i].data == nullptr) || a.buffers[i].size != b.buffers[i].size)
      return false;
    const int64_t size = a.buffers[i].size;
    if (a.buffers[i].data != nullptr &&
        std::memcmp(a.buffers[i].data, b.buffers[i].data, static_cast<size_t>(padded(size))) != 0)
      return false;
  }
  for (int64_t i = 0; i < a.n_children; ++i) {
    if (!same_node(*a.children[i], *b.children[i])) return false;
  }
  return (a.dictionary == nullptr) == (b.dictionary == nullptr) &&
         (a.dictionary == nullptr || same_node(*a.dictionary, *b.dictionary));
}

struct View {
  View(Array array, const ArrowSchema& schema) : moved(std::move(array)) {
    must(arrowdevice_array_import, moved.get(), &schema, nullptr, &view);
  }
  ~View() { arrowdevice_view_release(view); }
  const arrowdevice_node& root() const { return *arrowdevice_view_get_root(view); }

  Array moved;
  arrowdevice_view* view = nullptr;
};

struct Both {
  Array in_two_passes;
  Array by_engine;
};

Both copied_both_ways(const ArrowDeviceArray& array, const ArrowSchema& schema) {
  const Queue queue = make_queue(cpu());
  return {copy(array, schema, cpu()), copy(array, schema, cpu(), 0, queue.get())};
}

bool are_same_both_ways(const ArrowDeviceArray& array, const ArrowSchema& schema) {
  Both both = copied_both_ways(array, schema);
  const View fast(std::move(both.in_two_passes), schema);
  const View engine(std::move(both.by_engine), schema);
  return same_node(fast.root(), engine.root());
}

bool has_only_known_layouts(const ArrowSchema& schema) {
  static constexpr std::string_view kUnknown[] = {"n", "vz", "vu", "+vl", "+vL", "+m", "+r"};
  const std::string_view format = schema.format;
  if (schema.dictionary != nullptr || std::ranges::find(kUnknown, format) != std::end(kUnknown) ||
      format.starts_with("+u") || format.starts_with("+w")) {
    return false;
  }
  return std::all_of(schema.children, schema.children + schema.n_children,
                     [](const ArrowSchema* child) { return has_only_known_layouts(*child); });
}

}  // namespace

TEST_CASE("a copy in two passes equals the copy of the engine for every case") {
  begin();
  int64_t taken = 0;
  for (const HostCase& c : asked_cases()) {
    INFO(c.name);
    const Ledger ledger;
    const Schema schema = c.schema();
    const Array array = from_host(c.array(ledger));
    const int64_t before = copies_in_two_passes();
    CHECK(are_same_both_ways(*array, *schema));
    const int64_t in_two_passes = copies_in_two_passes() - before;
    // Legacy structs and NULL buffers may need the engine even for a known layout.
    if (!has_only_known_layouts(*schema)) CHECK(in_two_passes == 0);
    taken += in_two_passes;
  }
  CHECK(taken > 0);
}

TEST_CASE("slices of all cases are copied the same way by both") {
  begin();
  Random random(7);
  for (const HostCase& c : few_cases()) {
    INFO(c.name);
    const Ledger ledger;
    const Schema schema = c.schema();
    Array array = from_host(c.array(ledger));
    for (int i = 0; i < 8; ++i) {
      const int64_t first = random.below(array->array.length + 1);
      const int64_t rows = random.below(array->array.length - first + 1);
      const Array part = slice(*array, *schema, first, rows);
      INFO(first << " and " << rows << " more");
      CHECK(are_same_both_ways(*part, *schema));
    }
  }
}

TEST_CASE("common tables are copied in two passes") {
  begin();
  const Field types[] = {field("l"),
                         field("b"),
                         field("u"),
                         field("d:38,10"),
                         field("tsu:UTC"),
                         list_of(field("Z")),
                         struct_of({field("i"), large_list_of(struct_of({field("b"), field("g")}))}).not_null()};
  for (const auto& type : types) {
    for (const Nulls nulls : {Nulls::kNone, Nulls::kNoneUncounted, Nulls::kSome, Nulls::kSomeUncounted, Nulls::kAll}) {
      const Sample sample(type, {.rows = 70, .nulls = nulls, .offset = 3, .child_offset = 5});
      const int64_t before = copies_in_two_passes();
      const Array copied = copy(sample, cpu());
      CHECK(copies_in_two_passes() == before + 1);
      CHECK(difference(sample, *copied) == "");
    }
  }
}

TEST_CASE("copies that need more are the engine's") {
  begin();
  const Sample sample(field("l"), kPlain);
  const int64_t before = copies_in_two_passes();
  const Queue queue = make_queue(cpu());
  const Pool pool = make_pool(cpu());
  copy(*sample.host, *sample.schema, cpu(), 0, queue.get());
  copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  copy(*sample.host, *sample.schema, cpu(), ARROWDEVICE_COPY_NO_TRIM);
  copy(*sample.host, *sample.schema, sim(0));
  copy(Sample(dictionary_of("c", field("u")), kPlain), cpu());
  must(arrowdevice_device_set_pool, cpu(), pool.get());
  copy(*sample.host, *sample.schema, cpu());
  CHECK(stats(pool.get()).allocations == 2);
  must(arrowdevice_device_set_pool, cpu(), nullptr);
  CHECK(copies_in_two_passes() == before);
  copy(*sample.host, *sample.schema, cpu());
  CHECK(copies_in_two_passes() == before + 1);
}

TEST_CASE("mistakes have the messages of the engine") {
  begin();
  Sample sample(struct_of({field("l", "n"), list_of(field("u")).named("texts")}), kPlain);
  ArrowArray& root = sample.host->array;
  ArrowArray& numbers = *root.children[0];
  ArrowArray& lists = *root.children[1];
  struct Mistake {
    int64_t& number;
    int64_t wrong;
  };
  Mistake mistakes[] = {{numbers.length, 3},      {numbers.offset, -1},   {numbers.null_count, -2},
                        {numbers.null_count, 99}, {numbers.n_buffers, 3}, {numbers.n_children, 1},
                        {lists.n_children, 0},    {root.length, -1},      {root.n_children, 3}};
  const Queue queue = make_queue(cpu());
  for (Mistake& mistake : mistakes) {
    const int64_t right = std::exchange(mistake.number, mistake.wrong);
    std::string said[2];
    for (const bool by_engine : {false, true}) {
      auto options = copy_options(0, by_engine ? queue.get() : nullptr);
      Array out;
      said[by_engine] =
          refused(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), cpu(), &options, out.out());
      CHECK(out.released());
    }
    CHECK(said[0] == said[1]);
    mistake.number = right;
  }
  CHECK(are_same_both_ways(*sample.host, *sample.schema));
}

TEST_CASE("structs that contain themselves are refused") {
  begin();
  Sample sample(struct_of({struct_of({field("l")})}), kPlain);
  ArrowArray* const child = std::exchange(sample.host->array.children[0]->children[0], sample.host->array.children[0]);
  ArrowSchema* const field = std::exchange(sample.schema->children[0]->children[0], sample.schema->children[0]);
  Array out;
  must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), cpu(), nullptr, out.out());
  sample.host->array.children[0]->children[0] = child;
  sample.schema->children[0]->children[0] = field;
}

TEST_CASE("parts of a copy in one block live as long as any of them") {
  begin();
  const Sample sample(struct_of({field("l", "n"), field("u", "t")}).not_null(), kPlain);
  const int64_t live = kept_blocks::stats().live_arrays;
  Array copied = copy(sample, cpu());
  Array shared = share(copied);
  Array part = slice(*copied, *sample.schema, 5, 7);
  Owned<ArrowArray> child;
  *child.out() = *copied->array.children[1];
  copied->array.children[1]->release = nullptr;
  copied.reset();
  const Sample texts(field("u", "t"), kPlain);
  CHECK(kept_blocks::stats().live_arrays == live + 1);
  CHECK(difference(sample, *part, 5) == "");
  part.reset();
  CHECK(difference(sample, *shared) == "");
  shared.reset();
  CHECK(kept_blocks::stats().live_arrays == live + 1);
  CHECK(child->length == sample.host->array.length);
  std::thread([&] { child.reset(); }).join();
  CHECK(kept_blocks::stats().live_arrays == live);
}

TEST_CASE("the pool of the CPU counts copies in one block, and frees their memory") {
  begin();
  arrowdevice_pool* const pool = default_pool(cpu());
  must(arrowdevice_pool_trim, pool);
  const auto before = stats(pool);
  const auto counted = counters(cpu());
  const Sample sample(field("l"), {.rows = 1000, .nulls = Nulls::kNone});
  Array copied = copy(sample, cpu());
  CHECK(stats(pool).allocations == before.allocations + 1);
  CHECK(stats(pool).used_bytes >= before.used_bytes + 8000);
  CHECK(stats(pool).peak_bytes >= stats(pool).used_bytes);
  CHECK(counters(cpu()).bytes_in == counted.bytes_in + 8000);
  CHECK(counters(cpu()).bytes_out == counted.bytes_out + 8000);
  const void* const buffer = copied->array.buffers[1];
  copied.reset();
  CHECK(stats(pool).used_bytes == before.used_bytes);
  CHECK(stats(pool).cached_bytes >= before.cached_bytes + 8000);
  copied = copy(sample, cpu());
  CHECK(copied->array.buffers[1] == buffer);
  copied.reset();
  must(arrowdevice_pool_trim, pool);
  CHECK(stats(pool).cached_bytes == before.cached_bytes);
}

TEST_CASE("the peak of the CPU's pool stays after the copies are gone") {
  begin();
  arrowdevice_pool* const pool = default_pool(cpu());
  const Sample sample(field("l"), {.rows = 100'000, .nulls = Nulls::kNone});
  const int64_t before = stats(pool).peak_bytes;
  std::vector<Array> copies;
  while (stats(pool).peak_bytes <= before) copies.push_back(copy(sample, cpu()));
  const int64_t peak = stats(pool).peak_bytes;
  copies.clear();
  must(arrowdevice_pool_trim, pool);
  CHECK(stats(pool).peak_bytes == peak);
}

TEST_CASE("the first pass records what the second copies") {
  begin();
  const Field type = struct_of({list_of(struct_of({field("b", "flag"), field("i", "n")})).named("items")});
  Data items = data_of(6, {no_buffer()},
                       {data_of(6, {no_buffer(), buffer_of<uint8_t>({0b101101})}),
                        data_of(6, {no_buffer(), buffer_of<int32_t>({0, 1, 2, 3, 4, 5})})});
  Data lists = data_of(3, {no_buffer(), buffer_of<int32_t>({0, 2, 5, 6})}, {std::move(items)});
  const Ledger ledger;
  const Schema schema = make_schema(type);
  Array whole = from_host(make_array(data_of(3, {no_buffer()}, {std::move(lists)}), ledger));
  const Array rows = slice(*whole, *schema, 1, 2);  // the items 2 to 5

  HostFields fields;
  HostTotals totals;
  REQUIRE(measure(*schema, rows->array, fields, totals));
  REQUIRE(fields.size() == 5);
  const HostField* const root = fields.begin();
  const HostField& list = root[1];
  const HostField& item = root[2];
  const HostField& flag = root[3];
  const HostField& number = root[4];
  CHECK((root->rows == 2 && root->n_children == 1 && root->offset_bytes == 0));
  CHECK((list.rows == 2 && list.offset_bytes == 4 && list.kind == HostField::Values::kNone && list.n_children == 1));
  CHECK((item.rows == 4 && item.n_children == 2));
  CHECK((flag.rows == 4 && flag.kind == HostField::Values::kBits && flag.first_bit == 2));
  CHECK((number.rows == 4 && number.kind == HostField::Values::kBytes && number.bytes == 16));
  CHECK(std::memcmp(number.values, std::array<int32_t, 4>{2, 3, 4, 5}.data(), 16) == 0);
  CHECK((totals.shape.nodes == 5 && totals.shape.children == 4 && totals.shape.buffers == 8));
  CHECK(totals.bytes == 3 * kPaddingOfCopies);

  ArrowArray copied{};
  write(fields, totals, &copied);
  const ArrowArray& copied_list = *copied.children[0];
  const ArrowArray& copied_item = *copied_list.children[0];
  CHECK(std::memcmp(copied_list.buffers[1], std::array<int32_t, 3>{0, 3, 4}.data(), 12) == 0);
  CHECK(*static_cast<const uint8_t*>(copied_item.children[0]->buffers[1]) == 0b1011);
  CHECK(std::memcmp(copied_item.children[1]->buffers[1], number.values, 16) == 0);
  copied.release(&copied);
}

TEST_CASE("sizes that overflow are refused with the engine's message") {
  begin();
  Sample sample(struct_of({field("w:1073741824", "wide")}), {.rows = 0});
  ArrowArray& wide = *sample.host->array.children[0];
  const void* buffers[] = {nullptr, &sample};
  const void** const former = std::exchange(wide.buffers, static_cast<const void**>(buffers));
  wide.length = sample.host->array.length = int64_t{1} << 34;  // 2^64 bytes
  Array out;
  CHECK(contains(
      refused(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), cpu(), nullptr, out.out()),
      "overflows"));
  wide.length = sample.host->array.length = 0;
  wide.buffers = former;
}

TEST_CASE("large buffers are the engine's") {
  begin();
  const int64_t before = copies_in_two_passes();
  const Sample small(field("l"), {.rows = 130'000, .nulls = Nulls::kNone});  // a little less than a MiB
  CHECK(are_same_both_ways(*small.host, *small.schema));
  CHECK(copies_in_two_passes() == before + 1);
  const Sample large(field("l"), {.rows = 140'000, .nulls = Nulls::kNone});
  CHECK(are_same_both_ways(*large.host, *large.schema));
  CHECK(copies_in_two_passes() == before + 1);
}

TEST_CASE("a table with too many fields is the engine's") {
  begin();
  const int64_t before = copies_in_two_passes();
  std::vector<Field> columns(140'000, field("c"));
  const Sample sample(struct_of(std::move(columns)).not_null(), {.rows = 1, .nulls = Nulls::kNone});
  CHECK(are_same_both_ways(*sample.host, *sample.schema));
  CHECK(copies_in_two_passes() == before);
}
