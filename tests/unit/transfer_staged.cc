// SPDX-License-Identifier: Apache-2.0
// Tests copies between devices without a direct path. They go through host memory in pieces.
#include <algorithm>
#include <atomic>
#include <thread>

#include "library.h"
#include "support/blocking_call.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::BlockingCall;

constexpr int64_t kSmallest = 256 << 10;
constexpr int64_t kLargest = 4 << 20;
constexpr int64_t kBlocks = 5;  // of staging memory

// Returns the number of pieces of a copy. Each piece is a thirty-second of the copy, within bounds.
int64_t pieces_of(int64_t bytes) {
  const int64_t piece = (std::clamp(bytes / 32, kSmallest, kLargest) + 4095) / 4096 * 4096;
  return (bytes + piece - 1) / piece;
}

// A route between each pair of kinds of devices.
constexpr std::pair<int64_t, int64_t> kRoutes[] = {{0, 1}, {0, 2}, {2, 0}, {2, 3}};

// Bytes on the CPU that are quick to make.
struct Block {
  explicit Block(int64_t bytes) : schema(make_schema(field("C").not_null())) {
    Buffer values;
    values.bytes.resize(static_cast<size_t>(bytes));
    for (size_t i = 0; i < values.bytes.size(); i += 4'093) values.bytes[i] = static_cast<unsigned char>(i % 251 + 1);
    array = from_host(make_array(data_of(bytes, {no_buffer(), std::move(values)}), Ledger()));
  }

  bool is_on(int64_t id, const ArrowDeviceArray& there) const {
    std::vector<unsigned char> got(static_cast<size_t>(array->array.length));
    control::peek(id, there.array.buffers[1], 0, got.data(), array->array.length);
    return std::memcmp(got.data(), array->array.buffers[1], got.size()) == 0;
  }

  Owned<ArrowSchema> schema;
  Array array;
};

struct Spent {
  int64_t out, in, staged_source, staged_target, source_copies, target_copies;
};

class Meter {
 public:
  Meter(int64_t from, int64_t to)
      : from_(from),
        to_(to),
        source_(counters(sim(from))),
        target_(counters(sim(to))),
        source_device_(control::counters(from)),
        target_device_(control::counters(to)) {}

  Spent spent() const {
    return {.out = control::counters(from_).bytes_out - source_device_.bytes_out,
            .in = control::counters(to_).bytes_in - target_device_.bytes_in,
            .staged_source = counters(sim(from_)).staged_bytes - source_.staged_bytes,
            .staged_target = counters(sim(to_)).staged_bytes - target_.staged_bytes,
            .source_copies = control::counters(from_).copies - source_device_.copies,
            .target_copies = control::counters(to_).copies - target_device_.copies};
  }

 private:
  int64_t from_, to_;
  Counters source_, target_;
  arrowdevice::sim::Counters source_device_, target_device_;
};

TEST_CASE("a staged copy has the same bytes and few pieces, for sizes around theirs") {
  begin(configuration(Peers::kNone));
  for (const int64_t bytes :
       {int64_t{1}, kSmallest - 1, kSmallest, kSmallest + 1, 2 * kSmallest + 1, 3 * kSmallest, 3 * kSmallest + 1,
        32 * kSmallest, 33 * kSmallest + 1, kLargest + 1, 16 * kLargest + 1, 33 * kLargest + 1}) {
    const Block block(bytes);
    const auto there = copy(*block.array, *block.schema, sim(0));
    const Meter meter(0, 1);
    const auto moved = copy(*there, *block.schema, sim(1));
    const Spent spent = meter.spent();
    INFO(bytes << " bytes");
    const int64_t padded = (bytes + 63) / 64 * 64;  // the zeros behind the bytes are copied too
    const int64_t pieces = pieces_of(padded);
    CHECK(spent.out == padded);
    CHECK(spent.in == padded);
    CHECK(spent.staged_source == padded);
    CHECK(spent.staged_target == padded);
    CHECK(spent.source_copies == pieces);
    CHECK(spent.target_copies == pieces);
    CHECK(block.is_on(1, *moved));
  }
}

TEST_CASE("a staged copy of many regions fills each piece with several of them") {
  begin(configuration(Peers::kNone));
  std::vector<Field> columns;
  for (int i = 0; i < 60; ++i) columns.push_back(field(i % 3 == 0 ? "w:1024" : i % 3 == 1 ? "u" : "b"));
  for (const int64_t rows : {10, 300}) {
    Sample sample(struct_of(columns).not_null(), {.rows = rows});
    for (const auto& [from, to] : kRoutes) {
      INFO(rows << " rows from " << from << " to " << to);
      const auto there = copy(sample, sim(from));
      const Meter meter(from, to);
      const auto moved = copy(*there, *sample.schema, sim(to));
      const Spent spent = meter.spent();
      CHECK(spent.in % 64 == 0);  // zeros follow each buffer and are not staged
      CHECK(spent.staged_target <= spent.in);
      CHECK(spent.in - spent.staged_target < 64 * 2 * std::ssize(columns) * 2);
      CHECK(spent.target_copies == pieces_of(spent.staged_target));
      CHECK(difference(sample, *moved) == "");
    }
  }
}

TEST_CASE("staged copies have the same values, for every layout") {
  begin(configuration(Peers::kNone));
  for (const HostCase& one : few_cases()) {
    Sample sample(one.type, one.knobs);
    for (const auto& [from, to] : kRoutes) {
      INFO(one.name << " from " << from << " to " << to);
      auto there = copy(sample, sim(from));
      CHECK(difference(sample, *copy(*there, *sample.schema, sim(to))) == "");
      const int64_t rows = there->array.length;
      auto part = slice(*there, *sample.schema, rows / 3, rows / 2);
      CHECK(difference(sample, *copy(*part, *sample.schema, sim(to)), rows / 3) == "");
    }
  }
  CHECK(control::refused() == 0);
}

TEST_CASE("a staged copy waits for its source's event before it reads") {
  begin(configuration(Peers::kNone));
  Sample sample(field("l"), {.rows = 1'000});
  auto there = copy(sample, sim(0));
  control::UserEvent written;
  there->sync_event = written.sync_event();
  // The value arrives with the event, so an early read finds the old value.
  auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  const int64_t old_value = 41, new_value = 42;
  control::poke(0, const_cast<void*>(there->array.buffers[1]), 0, &old_value, sizeof old_value);
  std::atomic<bool> returned = false;
  std::thread producer([&] {
    // The copy blocks this test's thread. The producer waits until the copy waits for its event.
    while (control::calls("queue_wait_event") == 0 && !returned) std::this_thread::yield();
    control::poke(0, const_cast<void*>(there->array.buffers[1]), 0, &new_value, sizeof new_value);
    written.set();
  });
  Array moved;
  const int code = arrowdevice_array_copy(there.get(), sample.schema.get(), sim(1), &options, moved.out(), nullptr);
  returned = true;
  producer.join();
  REQUIRE(code == 0);
  must(arrowdevice_array_wait, moved.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  int64_t got = 0;
  control::peek(1, moved->array.buffers[1], 0, &got, sizeof got);
  CHECK(got == new_value);
  there->sync_event = nullptr;
}

// The link from the source thus has work while the CPU forwards a piece.
TEST_CASE("a staged copy submits three pieces before it waits for the first") {
  begin(configuration(Peers::kNone));
  const Block block(8 * kSmallest);
  const auto there = copy(*block.array, *block.schema, sim(0));
  const Counters before = counters(sim(0));
  Held engine(0);
  Array moved;
  std::thread copier([&] { moved = copy(*there, *block.schema, sim(1)); });
  while (counters(sim(0)).host_waits == before.host_waits) std::this_thread::yield();
  const int64_t submitted = counters(sim(0)).submissions - before.submissions;
  engine.resume();
  copier.join();
  CHECK(submitted == 3);
  CHECK(block.is_on(1, *moved));
}

TEST_CASE("an asynchronous staged copy is pending until its last piece has arrived") {
  begin(configuration(Peers::kNone));
  const Block block(kBlocks * kSmallest);  // more pieces would wait for a block of staging memory
  const auto there = copy(*block.array, *block.schema, sim(0));
  Held engine(1);
  const Array moved = copy(*there, *block.schema, sim(1), ARROWDEVICE_COPY_ASYNC);
  REQUIRE(moved->sync_event != nullptr);
  CHECK(is_ready(*moved) == 0);
  engine.resume();
  must(arrowdevice_array_wait, moved.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  CHECK(block.is_on(1, *moved));
}

TEST_CASE("a staged copy that fails at any step loses nothing and can be tried again") {
  begin(configuration(Peers::kNone));
  Sample sample(mixed_batch(), {.rows = 40});
  const auto there = copy(sample, sim(0));
  for (const char* function : {"queue_copy", "event_record", "event_wait", "buffer_allocate", "queue_create"}) {
    for (int nth = 1; nth <= 4; ++nth) {
      begin(configuration(Peers::kNone));
      const int64_t live = control::counters(1).allocations_live;
      control::fail_nth(function, nth);
      Array out;
      const int code = arrowdevice_array_copy(there.get(), sample.schema.get(), sim(1), nullptr, out.out(), nullptr);
      const bool failed = control::failures_injected() > 0;
      INFO(function << ", call " << nth);
      CHECK((code != 0) == failed);
      CHECK(out.released() == failed);
      out.reset();
      control::reset(configuration(Peers::kNone));
      must(arrowdevice_pool_trim, default_pool(sim(1)));
      CHECK(control::counters(1).allocations_live == live);
      CHECK(difference(sample, *copy(*there, *sample.schema, sim(1))) == "");
    }
  }
}

// The memory of the copy is freed when the call returns, so that no queue may still use it.
TEST_CASE("a staged copy that fails waits for the pieces on both queues") {
  begin(configuration(Peers::kNone));
  const Block block(10 * kSmallest);
  const auto there = copy(*block.array, *block.schema, sim(0));
  // Three pieces leave the source before the first goes to the target, and one more before the second.
  for (const auto& [held, failing] : {std::pair<int64_t, int64_t>{0, 2}, {1, 6}}) {
    INFO("work of device " << held << " is pending, and copy " << failing << " fails");
    Held engine(held);
    control::fail_nth("queue_copy", failing);
    const int64_t failures = control::failures_injected();
    Array out;
    int code = 0;
    BlockingCall copying(
        [&] { code = arrowdevice_array_copy(there.get(), block.schema.get(), sim(1), nullptr, out.out(), nullptr); });
    while (control::failures_injected() == failures && !copying.has_returned()) std::this_thread::yield();
    CHECK(copying.waits());
    CHECK(control::copies_in_flight(held) > 0);
    engine.resume();
    copying.join();
    CHECK(code == EIO);
  }
}

}  // namespace
