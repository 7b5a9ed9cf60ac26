// SPDX-License-Identifier: Apache-2.0
// Tests the functions that copy, move, share, slice, select and validate.
#include <limits>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

TEST_CASE("a copy leaves its source alone and does not need it afterwards") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  for (int64_t id = 0; id < kSims; ++id) {
    INFO("device " << id);
    Array there = copy(sample, sim(id));
    Array again = copy(*there, *sample.schema, sim(id));
    CHECK(again->array.children[0]->buffers[1] != there->array.children[0]->buffers[1]);
    there.reset();
    CHECK(difference(sample, *again) == "");
  }
  CHECK(sample.ledger.live() == sample.ledger.made());
  CHECK(difference(sample, *sample.host) == "");
  CHECK(control::refused() == 0);
}

TEST_CASE("a whole copy is not trimmed to the slice") {
  begin();
  Sample sample(field("l").not_null(), {.rows = 40, .nulls = Nulls::kNone});
  Array part = slice(*sample.host, *sample.schema, 10, 5);
  const int64_t before = control::counters(0).bytes_in;
  Array there = copy(*part, *sample.schema, sim(0), ARROWDEVICE_COPY_NO_TRIM);
  CHECK(there->array.offset == 10);
  CHECK(there->array.length == 5);
  CHECK(control::counters(0).bytes_in - before == 2 * 64);  // 15 rows of 8 bytes, padded
  CHECK(difference(sample, *there, 10) == "");
}

TEST_CASE("a copy uses the given queue and pool") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  const Queue queue = make_queue(sim(0));
  const Pool pool = make_pool(sim(0));
  auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  options.queue = queue.get();
  options.pool = pool.get();
  const int64_t made = control::counters(0).queues;
  Held engine(0);
  const Array there = copy(*sample.host, *sample.schema, sim(0), options);
  CHECK(stats(pool.get()).allocations == 1);
  CHECK(stats(default_pool(sim(0))).used_bytes == 0);
  CHECK(control::counters(0).queues == made);
  must_fail(ETIMEDOUT, arrowdevice_queue_finish, queue.get(), ARROWDEVICE_POLL);
  engine.resume();
  CHECK(difference(sample, *there) == "");
  const Array back = copy(*there, *sample.schema, cpu(), [&] {
    auto out = copy_options();
    out.queue = queue.get();  // a copy to the CPU takes a queue of the source device
    return out;
  }());
  CHECK(control::counters(0).queues == made);
  CHECK(difference(sample, *back) == "");
}

TEST_CASE("a pool or queue of another device than the copy's is refused") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  const Queue on_cpu = make_queue(cpu());
  auto options = copy_options();
  options.pool = default_pool(sim(1));
  Array out;
  must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), &options, out.out());
  options = copy_options();
  options.queue = on_cpu.get();
  const std::string said =
      must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), &options, out.out());
  CHECK(contains(said, "a queue of cpu:0 cannot copy from cpu:0 to ext_dev:0"));
  CHECK(out.released());
  // Checks these even if sharing uses neither.
  Array there = copy(sample, sim(0));
  must_fail(EINVAL, arrowdevice_array_to_device, there.get(), sample.schema.get(), sim(0), &options, out.out());
  options = copy_options();
  options.pool = default_pool(sim(1));
  must_fail(EINVAL, arrowdevice_array_to_device, there.get(), sample.schema.get(), sim(0), &options, out.out());
  CHECK_FALSE(there.released());
  CHECK(out.released());
  CHECK(control::refused() == 0);
}

TEST_CASE("the source of a copy can be named") {
  begin();
  Sample sample(field("l"), kPlain);
  Array there = copy(sample, sim(0));
  there->device_id = 3;  // a producer may number devices differently
  auto options = copy_options();
  options.source_device = sim(0);
  const Array back = copy(*there, *sample.schema, cpu(), options);
  CHECK(difference(sample, *back) == "");
  there->device_id = 0;
}

TEST_CASE("invalid options are refused by name") {
  begin();
  Sample sample(field("l"), kPlain);
  Array out;
  const auto refusal = [&](uint32_t flags) {
    const auto options = copy_options(flags);
    const std::string why =
        must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), &options, out.out());
    CHECK(must_fail(EINVAL, arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0), &options,
                    out.out()) == why);
    return why;
  };
  CHECK(contains(refusal(16), "flags"));
  CHECK(contains(refusal(0x80000000), "flags"));
  CHECK(contains(refusal(ARROWDEVICE_COPY_ALWAYS | ARROWDEVICE_COPY_NEVER), "COPY_ALWAYS and COPY_NEVER"));
  CHECK_FALSE(sample.host.released());
}

TEST_CASE("array_copy and array_to_device name their missing arguments") {
  begin();
  Sample sample(field("l"), kPlain);
  Array out;
  must_fail_saying(EINVAL, "array", arrowdevice_array_copy, nullptr, sample.schema.get(), sim(0), nullptr, out.out());
  must_fail_saying(EINVAL, "schema", arrowdevice_array_copy, sample.host.get(), nullptr, sim(0), nullptr, out.out());
  must_fail_saying(EINVAL, "device", arrowdevice_array_copy, sample.host.get(), sample.schema.get(), nullptr, nullptr,
                   out.out());
  must_fail_saying(EINVAL, "out", arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), nullptr,
                   nullptr);
  must_fail_saying(EINVAL, "also an input", arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0),
                   nullptr, sample.host.get());
  must_fail_saying(EINVAL, "moved", arrowdevice_array_to_device, nullptr, sample.schema.get(), sim(0), nullptr,
                   out.out());
  must_fail_saying(EINVAL, "schema", arrowdevice_array_to_device, sample.host.get(), nullptr, sim(0), nullptr,
                   out.out());
  must_fail_saying(EINVAL, "device", arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), nullptr,
                   nullptr, out.out());
  must_fail_saying(EINVAL, "out", arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0), nullptr,
                   nullptr);
  must_fail_saying(EINVAL, "also an input", arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0),
                   nullptr, sample.host.get());
  CHECK_FALSE(sample.host.released());
  sample.host.reset();
  must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), nullptr, out.out());
  must_fail(EINVAL, arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0), nullptr, out.out());
}

TEST_CASE("array_to_device shares memory and event with a device that has peer access") {
  begin(configuration(Peers::kAccess));
  Sample sample(field("l"), kPlain);
  Held engine(0);
  Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  const ArrowDeviceArray was = *there;
  Array moved;
  const auto never = copy_options(ARROWDEVICE_COPY_NEVER);
  must(arrowdevice_array_to_device, there.get(), sample.schema.get(), sim(1), &never, moved.out());
  CHECK(there.released());
  CHECK(moved->device_id == 1);
  CHECK(moved->sync_event == was.sync_event);
  CHECK(moved->array.buffers == was.array.buffers);
  CHECK(control::counters(1).allocations == 0);
  CHECK(is_ready(*moved) == 0);
  engine.resume();
  CHECK(difference(sample, *moved) == "");
}

TEST_CASE("array_to_device without a copy is refused if it needs one, and loses nothing") {
  begin();
  Sample sample(field("l"), kPlain);
  const auto never = copy_options(ARROWDEVICE_COPY_NEVER);
  Array out;
  must_fail_saying(ENOTSUP, "ext_dev:0", arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0),
                   &never, out.out());
  CHECK_FALSE(sample.host.released());
  CHECK(out.released());
  CHECK(sample.ledger.live() == sample.ledger.made());
}

TEST_CASE("array_to_device within a device shares unless the caller asks for a copy") {
  begin();
  Sample sample(field("l"), kPlain);
  Array there = copy(sample, sim(0));
  const void* const values = there->array.buffers[1];
  Array moved = output_of(arrowdevice_array_to_device, there.get(), sample.schema.get(), sim(0), nullptr);
  CHECK(moved->array.buffers[1] == values);
  const auto always = copy_options(ARROWDEVICE_COPY_ALWAYS);
  must(arrowdevice_array_to_device, moved.get(), sample.schema.get(), sim(0), &always, there.out());
  CHECK(there->array.buffers[1] != values);
  CHECK(moved.released());
  CHECK(difference(sample, *there) == "");
}

TEST_CASE("array_to_device releases its source after the copy") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  Array moved = output_of(arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0), nullptr);
  CHECK(sample.host.released());
  CHECK(sample.ledger.live() == 0);
  CHECK(difference(sample, *moved) == "");
}

TEST_CASE("two owners share one memory, and the producer's release runs with the last") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  Array second = output_of(arrowdevice_array_share, sample.host.get());
  CHECK(second->array.children[0]->buffers[1] == sample.host->array.children[0]->buffers[1]);
  CHECK(second->device_id == -1);
  Owned<ArrowArray> child(*second->array.children[2]);
  second->array.children[2]->release = nullptr;
  sample.host.reset();
  second.reset();
  CHECK(sample.ledger.live() == sample.ledger.made());
  child.reset();
  CHECK(sample.ledger.live() == 0);
  CHECK(Ledger::mistakes() == 0);
  must_fail(EINVAL, arrowdevice_array_share, sample.host.get(), second.out());
  must_fail(EINVAL, arrowdevice_array_share, nullptr, second.out());
  Sample other(field("l"), kPlain);
  must_fail(EINVAL, arrowdevice_array_share, other.host.get(), nullptr);
  must_fail(EINVAL, arrowdevice_array_share, other.host.get(), other.host.get());
}

TEST_CASE("a slice has its rows, reads nothing and copies nothing") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  Array there = copy(sample, sim(0));
  const auto before = control::counters(0);
  Array part = slice(*there, *sample.schema, 13, 20);
  CHECK(part->array.offset == 0);  // a slice of a record batch slices the columns
  CHECK(part->array.length == 20);
  CHECK(part->array.null_count == 0);
  Array inner = slice(*part, *sample.schema, 5, 10);
  const auto after = control::counters(0);
  CHECK(after.copies == before.copies);
  CHECK(after.allocations == before.allocations);
  there.reset();
  CHECK(difference(sample, *inner, 18) == "");
  CHECK(slice(*part, *sample.schema, 20, 0)->array.length == 0);
}

TEST_CASE("a slice keeps what is known of its nulls") {
  begin();
  const auto nulls_of = [](Nulls nulls) {
    Sample sample(field("l"), {.rows = 40, .nulls = nulls});
    return slice(*sample.host, *sample.schema, 1, 10)->array.null_count;
  };
  CHECK(nulls_of(Nulls::kNone) == 0);
  CHECK(nulls_of(Nulls::kNoneUncounted) == 0);
  CHECK(nulls_of(Nulls::kSome) == -1);
  CHECK(nulls_of(Nulls::kAll) == 10);
}

TEST_CASE("a slice outside of the rows is refused") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  const auto refusal = [&](int64_t offset, int64_t length) {
    Array out;
    const std::string why =
        must_fail(EINVAL, arrowdevice_array_slice, sample.host.get(), sample.schema.get(), offset, length, out.out());
    CHECK(out.released());
    return why;
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  CHECK(contains(refusal(0, 41), "41"));
  for (const auto& [offset, length] :
       {std::pair<int64_t, int64_t>{41, 0}, {40, 1}, {-1, 1}, {0, -1}, {kMost, kMost}, {kMost, 1}, {1, kMost}}) {
    refusal(offset, length);
  }
  Array out;
  must_fail(EINVAL, arrowdevice_array_slice, nullptr, sample.schema.get(), 0, 1, out.out());
  must_fail(EINVAL, arrowdevice_array_slice, sample.host.get(), nullptr, 0, 1, out.out());
  must_fail(EINVAL, arrowdevice_array_slice, sample.host.get(), sample.schema.get(), 0, 1, nullptr);
  must_fail(EINVAL, arrowdevice_array_slice, sample.host.get(), sample.schema.get(), 0, 1, sample.host.get());
  CHECK(sample.ledger.live() == sample.ledger.made());
}

TEST_CASE("a selection has the columns in the given order and its own schema") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  const int64_t columns[] = {2, 0, 2};
  Array out;
  Owned<ArrowSchema> schema;
  must(arrowdevice_array_select, sample.host.get(), sample.schema.get(), columns, 3, out.out(), schema.out());
  REQUIRE(schema->n_children == 3);
  CHECK(std::string(schema->children[0]->name) == "name");
  CHECK(std::string(schema->children[1]->name) == "id");
  REQUIRE(out->array.n_children == 3);
  CHECK(out->array.length == 40);
  sample.host.reset();
  sample.schema.reset();
  Array there = copy(*out, *schema, sim(0));
  Array back = copy(*there, *schema, cpu());
  for (int i = 0; i < 3; ++i) {
    const ArrowSchema& type = *schema->children[i];
    CHECK(arrowdevice::testing::difference(type, *sample.twin->children[columns[i]], type, *back->array.children[i]) ==
          "");
  }
  Owned<ArrowArray> child(*out->array.children[1]);
  out->array.children[1]->release = nullptr;
  out.reset();
  CHECK(sample.ledger.live() > 0);
  child.reset();
  CHECK(sample.ledger.live() == 0);
}

TEST_CASE("a selection of no columns is a batch of rows only") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  Array out;
  must(arrowdevice_array_select, sample.host.get(), sample.schema.get(), nullptr, 0, out.out(), nullptr);
  CHECK(out->array.length == 40);
  CHECK(out->array.n_children == 0);
}

TEST_CASE("a selection refuses missing columns and arrays that are not structs") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  Sample flat(field("l"), kPlain);
  Array out;
  Owned<ArrowSchema> schema;
  for (const int64_t wrong : {int64_t{-1}, int64_t{9}, std::numeric_limits<int64_t>::max()}) {
    must_fail_saying(EINVAL, std::to_string(wrong), arrowdevice_array_select, sample.host.get(), sample.schema.get(),
                     &wrong, 1, out.out(), schema.out());
  }
  const int64_t first = 0;
  must_fail_saying(EINVAL, "not a struct", arrowdevice_array_select, flat.host.get(), flat.schema.get(), &first, 1,
                   out.out(), nullptr);
  must_fail(EINVAL, arrowdevice_array_select, sample.host.get(), sample.schema.get(), nullptr, 1, out.out(), nullptr);
  must_fail(EINVAL, arrowdevice_array_select, sample.host.get(), sample.schema.get(), &first, -1, out.out(), nullptr);
  must_fail(EINVAL, arrowdevice_array_select, nullptr, sample.schema.get(), &first, 1, out.out(), nullptr);
  must_fail(EINVAL, arrowdevice_array_select, sample.host.get(), nullptr, &first, 1, out.out(), nullptr);
  must_fail(EINVAL, arrowdevice_array_select, sample.host.get(), sample.schema.get(), &first, 1, nullptr, nullptr);
  must_fail(EINVAL, arrowdevice_array_select, sample.host.get(), sample.schema.get(), &first, 1, out.out(),
            sample.schema.get());
  CHECK(out.released());
  CHECK(schema.released());
  CHECK_FALSE(sample.schema.released());
  CHECK(difference(sample, *sample.host) == "");
}

TEST_CASE("an array is valid against its schema and not against another") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  const auto other = make_schema(struct_of({field("l")}));
  const Array there = copy(sample, sim(0));
  for (const ArrowDeviceArray* array : {std::as_const(sample.host).get(), there.get()}) {
    must(arrowdevice_array_validate, array, sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_STRUCTURE);
    must_fail_saying(EINVAL, "children", arrowdevice_array_validate, array, other.get(), nullptr,
                     ARROWDEVICE_VALIDATE_STRUCTURE);
  }
  for (const int level : {-1, 3, 1'000}) {
    must_fail(EINVAL, arrowdevice_array_validate, sample.host.get(), sample.schema.get(), nullptr, level);
  }
  must_fail(EINVAL, arrowdevice_array_validate, nullptr, sample.schema.get(), nullptr, 0);
  must_fail(EINVAL, arrowdevice_array_validate, sample.host.get(), nullptr, nullptr, 0);
}

TEST_CASE("only strict validation refuses reserved words that are not zero") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  for (int64_t& reserved : sample.host->reserved) reserved = 0x5C5C5C5C;
  must(arrowdevice_array_validate, sample.host.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_STRUCTURE);
  must_fail_saying(EINVAL, "reserved", arrowdevice_array_validate, sample.host.get(), sample.schema.get(), nullptr,
                   ARROWDEVICE_VALIDATE_STRICT);
  const Array there = copy(sample, sim(0));
  CHECK(difference(sample, *there) == "");
  for (const int64_t reserved : there->reserved) CHECK(reserved == 0);
}

}  // namespace
