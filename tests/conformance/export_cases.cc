// SPDX-License-Identifier: Apache-2.0
// Tests arrays over buffers that are already on the device.
#include <cerrno>

#include "conformance/own_array.h"

namespace arrowdevice::conformance {

namespace {

using testing::canon_problem;
using testing::field;
using testing::make_schema;

constexpr int64_t kExportedRows = 20'000;
constexpr int64_t kExportedBytes = 4 * kExportedRows;

void waits_for_the_writer(Subject& subject) {
  const auto schema = make_schema(field("i"));
  const Releases releases = count_releases();
  for (uint64_t round = 0; round < 10; ++round) {
    const Bytes values = pattern(kExportedBytes, round);
    const Queue queue = subject.queue();
    DeviceBuffer buffer(subject.device(), kExportedBytes, nullptr, queue.get());
    enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, values.data(), kExportedBytes)});
    Owned<ArrowArray> array = array_over(std::move(buffer), kExportedRows, releases);
    auto out = output_of(arrowdevice_array_export, subject.device(), array.get(), queue.get());
    expect(array.released(), "what was exported is not marked released");
    expect_clean(canon_problem(*out, *schema, subject.info(), kShared), "the array");
    auto back = subject.to_cpu(*out, *schema);
    expect(values_of(back->array) == values, "the copy did not wait for the queue that writes the array");
    out.reset();
    wait_idle();
    expect(*releases == static_cast<int>(round) + 1, "the array was not released once");
  }
}

void is_ready_without_a_writer(Subject& subject) {
  const auto schema = make_schema(field("i"));
  const Releases releases = count_releases();
  const Bytes values = pattern(kExportedBytes);
  const Queue queue = subject.queue();
  DeviceBuffer buffer(subject.device(), kExportedBytes);
  enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, values.data(), kExportedBytes)});
  finish(queue.get());
  Owned<ArrowArray> array = array_over(std::move(buffer), kExportedRows, releases);
  auto out = output_of(arrowdevice_array_export, subject.device(), array.get(), nullptr);
  expect(out->sync_event == nullptr, "an array whose data is ready has an event");
  auto back = subject.to_cpu(*out, *schema);
  expect(values_of(back->array) == values, "the values changed");
}

void exports_every_type(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    Owned<ArrowArray> array(there.take().array);
    auto out = output_of(arrowdevice_array_export, subject.device(), array.get(), nullptr);
    expect(array.released(), "what was exported is not marked released");
    expect_clean(canon_problem(*out, *sample.schema, subject.info(), kShared), "the array");
    auto back = subject.to_cpu(*out, *sample.schema);
    sample.expect_values(back->array);
  });
}

void count_event(void* user, void*) { ++*static_cast<std::atomic<int>*>(user); }

void keeps_an_event_of_the_caller(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  auto source = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_ASYNC);
  if (source->sync_event == nullptr) throw Failure("an asynchronous copy on a device with events has none");
  auto second = subject.to_device(*sample.host, *sample.schema);
  Owned<ArrowArray> array(second.take().array);
  std::atomic<int> released{0};
  auto out = output_of(arrowdevice_array_export_event, subject.device(), array.get(), source->sync_event, count_event,
                       &released);
  expect(array.released(), "what was exported is not marked released");
  expect(out->sync_event == source->sync_event, "the array carries another event than was given");
  auto shared = subject.share(*out);
  expect(shared->sync_event == source->sync_event, "a second owner has another event");
  auto back = subject.to_cpu(*shared, *sample.schema);
  sample.expect_values(back->array);
  out.reset();
  wait_idle();
  expect(released == 0, "the event was released before the last owner");
  shared.reset();
  wait_idle();
  expect(released == 1, "the event was released " + std::to_string(released) + " times");

  must_fail(EINVAL, arrowdevice_array_export_event, subject.device(), array.get(), source->sync_event, count_event,
            &released, out.out());
  expect(released == 1, "a failed export released the event");
}

void refuses_events_where_there_are_none(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  Owned<ArrowArray> array(sample.host.take().array);
  const ArrowArray before = *array;
  std::atomic<int> released{0};
  int event = 0;
  Owned<ArrowDeviceArray> out;
  must_fail(EINVAL, arrowdevice_array_export_event, subject.cpu(), array.get(), &event, count_event, &released,
            out.out());
  expect(released == 0, "a failed export released the event");
  expect(out.released() && std::memcmp(&before, array.get(), sizeof before) == 0, "a failed export changed its input");
}

void takes_host_arrays(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    expect_clean(canon_problem(*sample.host, *sample.schema, subject.cpu_info(), kShared), "the array");
    sample.expect_values(sample.host->array);
    auto back = output_of(arrowdevice_array_to_host, sample.host.get(), sample.schema.get(), nullptr);
    expect(sample.host.released(), "what was moved is not marked released");
    sample.expect_values(*back);
  });
}

void moves_structs(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    const ArrowDeviceArray before = *there;
    Owned<ArrowDeviceArray> out;
    arrowdevice_array_move(there.get(), out.out());
    expect(there.released(), "what was moved is not marked released");
    expect(std::memcmp(&before, out.get(), sizeof before) == 0, "a move changed the array");
    arrowdevice_array_release(there.get());
    auto back = subject.to_cpu(*out, *sample.schema);
    sample.expect_values(back->array);
    arrowdevice_array_release(out.get());
    expect(out.released(), "a released array is not marked released");
    arrowdevice_array_release(out.get());
  });
  arrowdevice_array_release(nullptr);
}

void finds_its_device(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    auto* found = output_of(arrowdevice_array_get_device, there.get());
    expect(found == subject.device(), "an array is said to be on another device");
    must(arrowdevice_array_get_device, sample.host.get(), &found);
    expect(found == subject.cpu(), "an array on the CPU is said to be elsewhere");
    there.reset();
    must_fail(EINVAL, arrowdevice_array_get_device, there.get(), &found);
    expect(found == nullptr, "a device was given for a released array");
  });
}

void takes_what_producers_neglect(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    sample.host->device_id = 0;
    for (int64_t& word : sample.host->reserved) word = 0x5A5A5A5A;
    auto there = subject.to_device(*sample.host, *sample.schema);
    expect_clean(canon_problem(*there, *sample.schema, subject.info()), "the copy");
    for (int64_t& word : there->reserved) word = -1;
    auto slice = subject.slice(*there, *sample.schema, {0, there->array.length / 2});
    expect_clean(canon_problem(*slice, *sample.schema, subject.info(), kShared), "the slice");
    auto shared = subject.share(*there);
    expect_clean(canon_problem(*shared, *sample.schema, subject.info(), kShared), "the second owner");
    auto back = subject.to_cpu(*there, *sample.schema);
    sample.expect_values(back->array);
  });
}

}  // namespace

std::span<const Case> export_cases() {
  static constexpr Case kCases[] = {
      {"an exported array is read after the queue that writes it", kNeedsNothing, waits_for_the_writer},
      {"an array exported without a queue is ready", kNeedsNothing, is_ready_without_a_writer},
      {"arrays of every type are exported", kNeedsNothing, exports_every_type},
      // These cases need a discrete device, because a copy by the CPU finishes before the call returns and
      // leaves no event.
      {"an event of the caller is released with the last owner", kNeedsEvents | kNeedsDiscrete,
       keeps_an_event_of_the_caller},
      {"an event for a device type without events is refused and not released", kNeedsNothing,
       refuses_events_where_there_are_none},
      {"host arrays of every type become device arrays on the CPU and come back", kNeedsNothing, takes_host_arrays},
      {"arrays move from struct to struct", kNeedsNothing, moves_structs},
      {"array_get_device returns the device of an array", kNeedsNothing, finds_its_device},
      {"the library accepts id 0 of the CPU and reserved words, and writes neither", kNeedsNothing,
       takes_what_producers_neglect},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance
