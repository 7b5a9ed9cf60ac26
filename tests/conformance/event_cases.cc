// SPDX-License-Identifier: Apache-2.0
// Tests waits for arrays, and releases of arrays after work that still uses them.
#include <cerrno>

#include "conformance/own_array.h"

namespace arrowdevice::conformance {

namespace {

using testing::field;
using testing::make_schema;

constexpr int64_t kRows = 50'000;
constexpr int64_t kBytes = 4 * kRows;

bool is_ready(const ArrowDeviceArray& array) {
  int ready = -1;
  must(arrowdevice_array_is_ready, &array, nullptr, &ready);
  expect(ready == 0 || ready == 1, "neither ready nor not");
  return ready == 1;
}

void finished_arrays_are_ready(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    expect(is_ready(*sample.host), "an array on the CPU is not ready");
    auto there = subject.to_device(*sample.host, *sample.schema);
    expect(is_ready(*there), "a copy that is complete on return is not ready");
    must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_POLL);
    must(arrowdevice_array_wait, there.get(), subject.device(), ARROWDEVICE_NO_TIMEOUT);
  });
}

void waits(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_ASYNC);
    must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    expect(is_ready(*there), "an array that was waited for is not ready");
    // The source may be released now, but not earlier.
    sample.host.reset();
    auto back = subject.to_cpu(*there, *sample.schema);
    sample.expect_values(back->array);
  });
}

void polls(Subject& subject) {
  Sample sample(testing::find_case("20000 rows of list<utf8>"));
  auto there = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_ASYNC);
  // On a device of any speed, the array is ready or the poll times out.
  while (!is_ready(*there)) {
    const int code = arrowdevice_array_wait(there.get(), nullptr, ARROWDEVICE_POLL, nullptr);
    expect(code == 0 || code == ETIMEDOUT, "a poll gave code " + std::to_string(code));
  }
  must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_POLL);
  auto back = subject.to_cpu(*there, *sample.schema);
  sample.expect_values(back->array);
}

// Returns an int32 array on the device. The copy that fills it may still run.
Owned<ArrowDeviceArray> pending_array(Subject& subject, arrowdevice_queue* queue, const Bytes& values,
                                      const Releases& releases) {
  DeviceBuffer buffer(subject.device(), kBytes, nullptr, queue);
  enqueue(queue, {region_in(subject.device(), buffer.get(), 0, values.data(), kBytes)});
  Owned<ArrowArray> array = array_over(std::move(buffer), kRows, releases);
  return output_of(arrowdevice_array_export, subject.device(), array.get(), queue);
}

void a_queue_waits(Subject& subject) {
  const Bytes values = pattern(kBytes);
  const Queue writer = subject.queue();
  const Queue reader = subject.queue();
  const Releases releases = count_releases();
  auto array = pending_array(subject, writer.get(), values, releases);
  must(arrowdevice_queue_wait_array, reader.get(), array.get(), nullptr);
  Bytes received(values.size());
  enqueue(reader.get(), {region_out(received.data(), subject.device(), array->array.buffers[1], 0, kBytes)});
  finish(reader.get());
  expect(received == values, "a queue that was to wait for an array read it before it was there");
}

void releases_behind_a_queue(Subject& subject) {
  const Bytes values = pattern(kBytes);
  const Releases releases = count_releases();
  const Queue queue = subject.queue();
  auto array = pending_array(subject, queue.get(), values, releases);
  Bytes received(values.size());
  enqueue(queue.get(), {region_out(received.data(), subject.device(), array->array.buffers[1], 0, kBytes)});
  must(arrowdevice_array_release_after, array.get(), queue.get());
  expect(array.released(), "what is released later is not marked released");
  finish(queue.get());
  wait_idle();
  expect(*releases == 1, "the array was released " + std::to_string(*releases) + " times");
  expect(received == values, "the array was released before the work that uses it");
  must_fail(EINVAL, arrowdevice_array_release_after, array.get(), queue.get());
}

void releases_after_a_lost_queue(Subject& subject) {
  const Bytes values = pattern(kBytes);
  const Releases releases = count_releases();
  Bytes received(values.size());
  Queue queue = subject.queue();
  auto array = pending_array(subject, queue.get(), values, releases);
  enqueue(queue.get(), {region_out(received.data(), subject.device(), array->array.buffers[1], 0, kBytes)});
  must(arrowdevice_array_release_after, array.get(), queue.get());
  queue.reset();
  wait_idle();
  expect(*releases == 1, "the array was released " + std::to_string(*releases) + " times");
  expect(received == values, "the work of a destroyed queue was lost");
}

void runs_deferred_release(Subject& subject) {
  Sample sample(testing::find_case("20000 rows of utf8"));
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ASYNC;
  auto there =
      output_of(arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), subject.device(), &options);
  int64_t done = -1;
  must(arrowdevice_deferred_run, -1, &done);
  expect(done >= 0, "a negative number of releases ran");
  auto back = subject.to_cpu(*there, *sample.schema);
  there.reset();
  wait_idle();
  expect(sample.ledger.live() == 0, "a moved array was not released when its copy was done");
  sample.expect_values(back->array);
}

void refuses_events_of_nobody(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  int event = 0;
  sample.host->sync_event = &event;
  const Queue queue = subject.queue();
  Owned<ArrowDeviceArray> out;
  int ready = 0;
  must_fail(EINVAL, arrowdevice_array_is_ready, sample.host.get(), nullptr, &ready);
  must_fail(EINVAL, arrowdevice_array_wait, sample.host.get(), nullptr, ARROWDEVICE_POLL);
  must_fail(EINVAL, arrowdevice_queue_wait_array, queue.get(), sample.host.get(), nullptr);
  must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), nullptr,
            out.out());
  expect(out.released(), "a refused copy gave something");
  sample.host->sync_event = nullptr;
}

}  // namespace

std::span<const Case> event_cases() {
  static constexpr Case kCases[] = {
      {"arrays that are complete are ready", kNeedsNothing, finished_arrays_are_ready},
      {"waiting for an array makes it ready", kNeedsNothing, waits},
      {"polling an array ends when it is ready", kNeedsNothing, polls},
      {"a queue waits for an array", kNeedsNothing, a_queue_waits},
      {"an array is released behind the work of a queue, once", kNeedsNothing, releases_behind_a_queue},
      {"an array is released behind the work of a queue that is destroyed", kNeedsNothing, releases_after_a_lost_queue},
      {"an array given to to_device is released after its copy", kNeedsNothing, runs_deferred_release},
      {"an event on a device type without events is refused", kNeedsNothing, refuses_events_of_nobody},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance
