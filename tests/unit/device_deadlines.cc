// SPDX-License-Identifier: Apache-2.0
// Tests time-outs: a call that waits for a stuck device returns at its time-out, and no array is lost.
#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr int64_t kShort = 2'000'000;

TEST_CASE("a copy to the host times out on a pending array, and a later copy succeeds") {
  begin();
  Sample sample(field("u"), {.rows = 30});
  const Array there = copy(sample, sim(0));
  control::UserEvent written;
  Array pending;
  Owned<ArrowArray> plain(copy(*there, *sample.schema, sim(0)).take().array);
  must(arrowdevice_array_export_event, sim(0), plain.get(), written.sync_event(), nullptr, nullptr, pending.out());
  auto options = copy_options();
  options.timeout_ns = kShort;
  Array out;
  // The library must read the sizes of strings before it submits a copy.
  must_fail_saying(ETIMEDOUT, "ext_dev:0", arrowdevice_array_copy, pending.get(), sample.schema.get(), cpu(), &options,
                   out.out());
  CHECK(out.released());
  Owned<ArrowArray> host;
  must_fail(ETIMEDOUT, arrowdevice_array_to_host, pending.get(), sample.schema.get(), &options, host.out());
  CHECK_FALSE(pending.released());
  written.set();
  must(arrowdevice_array_to_host, pending.get(), sample.schema.get(), &options, host.out());
  CHECK(arrowdevice::testing::difference(*sample.schema, *sample.twin, *sample.schema, *host) == "");
}

TEST_CASE("a copy within a backend times out if it must read a pending array first") {
  begin();
  Sample sample(list_of(field("u")), {.rows = 30});
  for (const Peers peers : {Peers::kCopy, Peers::kNone}) {
    begin(configuration(peers));
    Held engine(0);
    const Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
    auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
    options.timeout_ns = kShort;
    Array out;
    must_fail(ETIMEDOUT, arrowdevice_array_copy, pending.get(), sample.schema.get(), sim(1), &options, out.out());
    CHECK(out.released());
    engine.resume();
    must(arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    const Array moved = copy(*pending, *sample.schema, sim(1), options);
    CHECK(difference(sample, *moved) == "");
  }
}

TEST_CASE("a copy without a wait before its submission ignores the time-out") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  Held engine(0);
  auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  options.timeout_ns = 1;
  const Array pending = copy(*sample.host, *sample.schema, sim(0), options);
  const Array moved = copy(*pending, *sample.schema, sim(1), options);
  CHECK(is_ready(*moved) == 0);
  engine.resume();
  CHECK(difference(sample, *moved) == "");
}

TEST_CASE("an import times out, and does not wait without sizes to resolve") {
  begin();
  Sample sample(field("u"), {.rows = 30});
  Held engine(0);
  Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
  options.timeout_ns = kShort;
  arrowdevice_view* view = nullptr;
  must_fail(ETIMEDOUT, arrowdevice_array_import, pending.get(), sample.schema.get(), &options, &view);
  CHECK_FALSE(pending.released());
  options.flags = 0;
  must(arrowdevice_array_import, pending.get(), sample.schema.get(), &options, &view);
  arrowdevice_view_detach(view, pending.out());
  engine.resume();
  CHECK(difference(sample, *pending) == "");
}

TEST_CASE("a CPU queue that waits for a device's array times out") {
  begin();
  Sample sample(field("u"), {.rows = 30});
  Held engine(0);
  Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  const Queue queue = make_queue(cpu());
  auto options = import_options();
  options.queue = queue.get();
  options.timeout_ns = kShort;
  arrowdevice_view* view = nullptr;
  must_fail(ETIMEDOUT, arrowdevice_array_import, pending.get(), sample.schema.get(), &options, &view);
  CHECK_FALSE(pending.released());
}

TEST_CASE("a time-out of 0 waits without limit and a negative one does not wait") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  Held engine(0);
  const Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  must_fail(ETIMEDOUT, arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_POLL);
  must_fail(ETIMEDOUT, arrowdevice_array_wait, pending.get(), nullptr, INT64_MIN);
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  engine.resume();
  must(arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  auto options = copy_options();
  options.timeout_ns = ARROWDEVICE_NO_TIMEOUT;
  CHECK(difference(sample, *copy(*pending, *sample.schema, cpu(), options)) == "");
}

}  // namespace
