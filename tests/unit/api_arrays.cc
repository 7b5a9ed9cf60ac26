// SPDX-License-Identifier: Apache-2.0
// Tests the functions that transfer ownership of arrays, wait for arrays and release them.
#include "library.h"
#include "support/callback.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

ArrowDeviceArray garbage() {
  ArrowDeviceArray array;
  std::memset(&array, 0x5C, sizeof array);
  return array;
}

// Returns a complete copy on a device as a plain array, as an application holds its own device buffers.
Owned<ArrowArray> on_device(const Sample& sample, int64_t id) {
  Array there = copy(sample, sim(id));
  return Owned<ArrowArray>(there.take().array);
}

TEST_CASE("a host array becomes a ready device array on the CPU without a new owner") {
  begin();
  Ledger ledger;
  auto array = make_array(generate(field("u"), kPlain), ledger);
  const ArrowArray was = *array;
  Array out(garbage());
  out->array.release = nullptr;
  must(arrowdevice_array_from_host, array.get(), out.get());
  CHECK(array.released());
  CHECK(out->device_type == ARROW_DEVICE_CPU);
  CHECK(out->device_id == -1);
  CHECK(out->sync_event == nullptr);
  for (const int64_t reserved : out->reserved) CHECK(reserved == 0);
  CHECK(out->array.buffers == was.buffers);
  CHECK(ledger.live() == ledger.made());
  out.reset();
  CHECK(ledger.live() == 0);
  must_fail_saying(EINVAL, "released", arrowdevice_array_from_host, array.get(), out.out());
  must_fail(EINVAL, arrowdevice_array_from_host, nullptr, out.out());
  auto other = make_array(generate(field("u"), kPlain), ledger);
  must_fail(EINVAL, arrowdevice_array_from_host, other.get(), nullptr);
  CHECK_FALSE(other.released());
}

TEST_CASE("a host array from a device is complete") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  Array there = copy(sample, sim(0));
  auto back = output_of(arrowdevice_array_to_host, there.get(), sample.schema.get(), nullptr);
  CHECK(there.released());
  CHECK(arrowdevice::testing::difference(*sample.schema, *sample.twin, *sample.schema, *back) == "");
  CHECK(problem(*sample.schema, *back) == "");
}

TEST_CASE("array_to_host shares an array on the host unless the caller asks for a copy") {
  begin();
  Sample sample(field("u"), kPlain);
  const void* const values = sample.host->array.buffers[2];
  auto back = output_of(arrowdevice_array_to_host, sample.host.get(), sample.schema.get(), nullptr);
  CHECK(back->buffers[2] == values);
  Array again = from_host(std::move(back));
  const auto options = copy_options(ARROWDEVICE_COPY_ALWAYS);
  must(arrowdevice_array_to_host, again.get(), sample.schema.get(), &options, back.out());
  CHECK(back->buffers[2] != values);
  CHECK(sample.ledger.live() == 0);
  CHECK(arrowdevice::testing::difference(*sample.schema, *sample.twin, *sample.schema, *back) == "");
}

TEST_CASE("array_to_host refuses invalid arrays and leaves them unchanged") {
  begin();
  Sample sample(field("u"), kPlain);
  Array there = copy(sample, sim(0));
  Owned<ArrowArray> back;
  const auto never = copy_options(ARROWDEVICE_COPY_NEVER);
  must_fail_saying(ENOTSUP, "copying is ruled out", arrowdevice_array_to_host, there.get(), sample.schema.get(), &never,
                   back.out());
  must_fail(EINVAL, arrowdevice_array_to_host, nullptr, sample.schema.get(), nullptr, back.out());
  must_fail(EINVAL, arrowdevice_array_to_host, there.get(), nullptr, nullptr, back.out());
  must_fail(EINVAL, arrowdevice_array_to_host, there.get(), sample.schema.get(), nullptr, nullptr);
  must_fail(EINVAL, arrowdevice_array_to_host, there.get(), sample.schema.get(), nullptr, &there->array);
  CHECK_FALSE(there.released());
  CHECK(back.released());
  CHECK(difference(sample, *there) == "");
  Array released;
  must_fail(EINVAL, arrowdevice_array_to_host, released.get(), sample.schema.get(), nullptr, back.out());
}

TEST_CASE("an exported array is ready when the queue that writes it is") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    auto array = on_device(sample, id);
    const Queue queue = make_queue(sim(id));
    Held engine(id);
    Array out(garbage());
    out->array.release = nullptr;
    must(arrowdevice_array_export, sim(id), array.get(), queue.get(), out.get());
    CHECK(array.released());
    CHECK(out->device_type == ARROW_DEVICE_EXT_DEV);
    CHECK(out->device_id == id);
    REQUIRE(out->sync_event != nullptr);
    for (const int64_t reserved : out->reserved) CHECK(reserved == 0);
    CHECK(is_ready(*out) == 0);
    engine.resume();
    must(arrowdevice_array_wait, out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    CHECK(is_ready(*out) == 1);
    CHECK(difference(sample, *out) == "");
  }
}

TEST_CASE("an array exported without a queue is ready and has no event") {
  begin();
  Sample sample(field("u"), kPlain);
  auto array = on_device(sample, 1);
  Array out = output_of(arrowdevice_array_export, sim(1), array.get(), nullptr);
  CHECK(out->sync_event == nullptr);
  CHECK(out->device_id == 1);
  CHECK(is_ready(*out) == 1);
  CHECK(difference(sample, *out) == "");
}

TEST_CASE("an array on the CPU is exported when the queue that writes it is finished") {
  begin();
  Sample sample(field("u"), kPlain);
  Owned<ArrowArray> array(sample.host.take().array);
  const Queue queue = make_queue(cpu());
  Array out = output_of(arrowdevice_array_export, cpu(), array.get(), queue.get());
  CHECK(out->device_id == -1);
  CHECK(out->sync_event == nullptr);
}

TEST_CASE("an export that is refused leaves its array alone") {
  begin();
  Sample sample(field("u"), kPlain);
  Owned<ArrowArray> array(sample.host.take().array);
  const Queue queue = make_queue(sim(0));
  Array out;
  must_fail(EINVAL, arrowdevice_array_export, nullptr, array.get(), nullptr, out.out());
  must_fail(EINVAL, arrowdevice_array_export, sim(0), nullptr, nullptr, out.out());
  must_fail(EINVAL, arrowdevice_array_export, sim(0), array.get(), nullptr, nullptr);
  control::fail_next("event_record");
  CHECK(arrowdevice_array_export(sim(0), array.get(), queue.get(), out.out(), nullptr) == EIO);
  control::fail_next("event_publish");
  CHECK(arrowdevice_array_export(sim(0), array.get(), queue.get(), out.out(), nullptr) == EIO);
  CHECK(out.released());
  CHECK_FALSE(array.released());
  CHECK(sample.ledger.live() > 0);
  array.reset();
  must_fail(EINVAL, arrowdevice_array_export, sim(0), array.get(), nullptr, out.out());
  must_fail(EINVAL, arrowdevice_array_export_event, sim(0), array.get(), nullptr, nullptr, nullptr, out.out());
  CHECK(sample.ledger.live() == 0);
}

struct Ended {
  int times = 0;
  void* event = nullptr;
  static void end(void* user, void* sync_event) {
    enter_callback("release of an event");
    auto& ended = *static_cast<Ended*>(user);
    ++ended.times;
    ended.event = sync_event;
  }
};

TEST_CASE("an exported array has the application's event until its last owner ends") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  auto array = on_device(sample, 0);
  control::UserEvent written;
  Ended ended;
  Array out = output_of(arrowdevice_array_export_event, sim(0), array.get(), written.sync_event(), Ended::end, &ended);
  CHECK(array.released());
  CHECK(out->sync_event == written.sync_event());
  CHECK(is_ready(*out) == 0);
  Array second = output_of(arrowdevice_array_share, out.get());
  CHECK(second->sync_event == written.sync_event());
  Owned<ArrowArray> child(*second->array.children[0]);
  second->array.children[0]->release = nullptr;
  out.reset();
  second.reset();
  CHECK(ended.times == 0);
  written.set();
  child.reset();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(ended.times == 1);
  CHECK(ended.event == written.sync_event());
}

TEST_CASE("an event without a callback outlives the array, and NULL means ready") {
  begin();
  Sample sample(field("l"), kPlain);
  Ended ended;  // of the array that ends last
  control::UserEvent written;
  written.set();
  auto array = on_device(sample, 0);
  Array out = output_of(arrowdevice_array_export_event, sim(0), array.get(), written.sync_event(), nullptr, nullptr);
  CHECK(is_ready(*out) == 1);
  out.reset();
  array = on_device(sample, 0);
  must(arrowdevice_array_export_event, sim(0), array.get(), nullptr, Ended::end, &ended, out.out());
  CHECK(is_ready(*out) == 1);
  CHECK(difference(sample, *out) == "");
}

TEST_CASE("an event on a device type without events is refused, and its callback not called") {
  begin();
  Sample sample(field("l"), kPlain);
  Owned<ArrowArray> array(sample.host.take().array);
  int event = 0;
  Ended ended;
  Array out;
  must_fail_saying(EINVAL, "cpu", arrowdevice_array_export_event, cpu(), array.get(), &event, Ended::end, &ended,
                   out.out());
  CHECK(ended.times == 0);
  CHECK_FALSE(array.released());
  must_fail(EINVAL, arrowdevice_array_export_event, nullptr, array.get(), nullptr, nullptr, nullptr, out.out());
  must_fail(EINVAL, arrowdevice_array_export_event, cpu(), array.get(), nullptr, nullptr, nullptr, nullptr);
  must_fail(EINVAL, arrowdevice_array_export_event, cpu(), nullptr, nullptr, nullptr, nullptr, out.out());
}

TEST_CASE("every function that waits refuses a CPU array with an event") {
  begin();
  Sample sample(field("l"), kPlain);
  int event = 0;
  sample.host->sync_event = &event;
  int ready = 77;
  const Queue queue = make_queue(sim(0));
  must_fail_saying(EINVAL, "sync_event", arrowdevice_array_is_ready, sample.host.get(), nullptr, &ready);
  must_fail(EINVAL, arrowdevice_array_wait, sample.host.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  must_fail(EINVAL, arrowdevice_queue_wait_array, queue.get(), sample.host.get(), nullptr);
  Array out;
  must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), nullptr, out.out());
  must_fail(EINVAL, arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), cpu(), nullptr, out.out());
  arrowdevice_view* view = nullptr;
  must_fail(EINVAL, arrowdevice_array_import, sample.host.get(), sample.schema.get(), nullptr, &view);
  CHECK_FALSE(sample.host.released());
}

TEST_CASE("the device of an array is the one that its buffers are on") {
  begin();
  Sample sample(field("l"), kPlain);
  for (int64_t id = 0; id < kSims; ++id) {
    const Array there = copy(sample, sim(id));
    auto* found = output_of(arrowdevice_array_get_device, there.get());
    CHECK(found == sim(id));
  }
  arrowdevice_device* found = nullptr;
  for (const int64_t id : {-1, 0}) {
    sample.host->device_id = id;
    must(arrowdevice_array_get_device, sample.host.get(), &found);
    CHECK(found == cpu());
  }
  sample.host->device_id = 7;
  found = cpu();
  must_fail(ENODEV, arrowdevice_array_get_device, sample.host.get(), &found);
  CHECK(found == nullptr);
  for (const ArrowDeviceType type : {0, 5, 99, -7}) {
    sample.host->device_type = type;
    must_fail(ENOTSUP, arrowdevice_array_get_device, sample.host.get(), &found);
  }
  sample.host->device_type = ARROW_DEVICE_METAL;
  must_fail(ENODEV, arrowdevice_array_get_device, sample.host.get(), &found);
  must_fail(EINVAL, arrowdevice_array_get_device, nullptr, &found);
  must_fail(EINVAL, arrowdevice_array_get_device, sample.host.get(), nullptr);
  sample.host.reset();
  must_fail(EINVAL, arrowdevice_array_get_device, sample.host.get(), &found);
}

TEST_CASE("array_move empties the source and fills the target") {
  begin();
  Sample sample(field("l"), kPlain);
  Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  const ArrowDeviceArray was = *there;
  Array to(garbage());
  to->array.release = nullptr;
  arrowdevice_array_move(there.get(), to.get());
  CHECK(there.released());
  CHECK(std::memcmp(to.get(), &was, sizeof was) == 0);
  arrowdevice_array_move(to.get(), to.get());
  arrowdevice_array_move(nullptr, to.get());
  arrowdevice_array_move(to.get(), nullptr);
  CHECK_FALSE(to.released());
  CHECK(difference(sample, *to) == "");
  Array nothing;
  arrowdevice_array_move(nothing.get(), there.get());
  CHECK(there.released());
}

TEST_CASE("a release runs once, and ignores a released array and NULL") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  arrowdevice_array_release(sample.host.get());
  CHECK(sample.ledger.live() == 0);
  CHECK(sample.host.released());
  arrowdevice_array_release(sample.host.get());
  arrowdevice_array_release(nullptr);
  CHECK(Ledger::mistakes() == 0);
}

TEST_CASE("an array is released behind a queue's work, or at once if it has finished") {
  begin();
  const Queue queue = make_queue(sim(0));
  Sample now(field("l"), kPlain), later(field("l"), kPlain);
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_array_release_after, now.host.get(), queue.get());
  CHECK(now.host.released());
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(now.ledger.live() == 0);

  Held engine(0);
  must(arrowdevice_array_release_after, later.host.get(), queue.get());
  CHECK(later.host.released());
  CHECK(later.ledger.live() > 0);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(later.ledger.live() == 0);
}

TEST_CASE("a failed release_after leaves the array with its owner") {
  begin();
  Sample sample(field("l"), kPlain);
  const Queue queue = make_queue(sim(0));
  must_fail(EINVAL, arrowdevice_array_release_after, nullptr, queue.get());
  must_fail(EINVAL, arrowdevice_array_release_after, sample.host.get(), nullptr);
  control::fail_next("event_record");
  CHECK(arrowdevice_array_release_after(sample.host.get(), queue.get(), nullptr) == EIO);
  control::lose(0);
  must_fail(EIO, arrowdevice_array_release_after, sample.host.get(), queue.get());
  CHECK_FALSE(sample.host.released());
  CHECK(sample.ledger.live() > 0);
  sample.host.reset();
  must_fail(EINVAL, arrowdevice_array_release_after, sample.host.get(), queue.get());
}

TEST_CASE("waiting for an array ends with its event, or with the time") {
  begin();
  Sample sample(field("l"), kPlain);
  Held engine(0);
  const Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  must_fail_saying(ETIMEDOUT, "ext_dev:0", arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_POLL);
  must_fail(ETIMEDOUT, arrowdevice_array_wait, there.get(), nullptr, 1'000'000);
  CHECK(is_ready(*there) == 0);
  engine.resume();
  must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_array_wait, there.get(), sim(0), ARROWDEVICE_POLL);
  CHECK(is_ready(*there) == 1);
  must(arrowdevice_array_wait, sample.host.get(), nullptr, ARROWDEVICE_POLL);
}

TEST_CASE("a queue waits for an array of its own device, of another one and of the CPU") {
  begin();
  Sample sample(field("l"), kPlain);
  Held engine(0);
  const Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  const Queue other = make_queue(sim(1));
  must(arrowdevice_queue_wait_array, other.get(), there.get(), nullptr);
  must_fail(ETIMEDOUT, arrowdevice_queue_finish, other.get(), ARROWDEVICE_POLL);
  engine.resume();
  must(arrowdevice_queue_finish, other.get(), ARROWDEVICE_NO_TIMEOUT);
  const Queue on_cpu = make_queue(cpu());
  must(arrowdevice_queue_wait_array, on_cpu.get(), there.get(), nullptr);
  CHECK(is_ready(*there) == 1);
  must(arrowdevice_queue_wait_array, other.get(), sample.host.get(), nullptr);
}

TEST_CASE("every function that waits refuses NULL arguments and released arrays") {
  begin();
  Array released;
  Sample sample(field("l"), kPlain);
  const Queue queue = make_queue(sim(0));
  int ready = 77;
  for (const ArrowDeviceArray* array : {static_cast<const ArrowDeviceArray*>(nullptr), std::as_const(released).get()}) {
    must_fail(EINVAL, arrowdevice_array_is_ready, array, nullptr, &ready);
    CHECK(ready == 0);
    must_fail(EINVAL, arrowdevice_array_wait, array, nullptr, ARROWDEVICE_POLL);
    must_fail(EINVAL, arrowdevice_queue_wait_array, queue.get(), array, nullptr);
  }
  must_fail(EINVAL, arrowdevice_array_is_ready, sample.host.get(), nullptr, nullptr);
  must_fail(EINVAL, arrowdevice_queue_wait_array, nullptr, sample.host.get(), nullptr);
}

}  // namespace
