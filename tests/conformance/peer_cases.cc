// SPDX-License-Identifier: Apache-2.0
// Tests two devices of one type.
#include "conformance/backlog.h"

namespace arrowdevice::conformance {

namespace {

using testing::canon_problem;
using testing::problem;

void copies_between(Subject& subject) {
  const arrowdevice_device_info peer = describe(subject.peer());
  for_each(thorough_cases(), [&](Sample& sample) {
    auto first = subject.to_device(*sample.host, *sample.schema);
    auto second = subject.copy(*first, *sample.schema, subject.peer());
    expect_clean(canon_problem(*second, *sample.schema, peer), "on the peer");
    first.reset();
    auto back = subject.to_cpu(*second, *sample.schema);
    expect_clean(problem(*sample.schema, back->array), "back on the host");
    expect(back->array.length == sample.twin->length, "rows were lost");
    sample.expect_values(back->array);
  });
}

void copies_slices_between(Subject& subject) {
  const arrowdevice_device_info peer = describe(subject.peer());
  for_each(thorough_cases(), [&](Sample& sample) {
    auto first = subject.to_device(*sample.host, *sample.schema);
    for (const Range range : ranges_of(sample.twin->length)) {
      auto slice = subject.slice(*first, *sample.schema, range);
      auto second = subject.copy(*slice, *sample.schema, subject.peer());
      expect_clean(canon_problem(*second, *sample.schema, peer), "on the peer");
      auto third = subject.copy(*second, *sample.schema, subject.device());
      auto back = subject.to_cpu(*third, *sample.schema);
      expect_clean(problem(*sample.schema, back->array), "back on the host");
      expect(back->array.length == range.length, "rows were lost");
      sample.expect_values(back->array, range.offset);
    }
  });
}

void copies_unaligned_bitmaps_between(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    auto first = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_NO_TRIM);
    auto second = subject.copy(*first, *sample.schema, subject.peer(), ARROWDEVICE_COPY_NO_TRIM);
    auto back = subject.to_cpu(*second, *sample.schema);
    expect_clean(problem(*sample.schema, back->array), "back on the host");
    sample.expect_values(back->array);
  });
}

void moves_along_a_chain(Subject& subject) {
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ASYNC;
  for_each(thorough_cases(), [&](Sample& sample) {
    Owned<ArrowDeviceArray> array = std::move(sample.host);
    for (arrowdevice_device* to : {subject.device(), subject.peer(), subject.device(), subject.peer()}) {
      auto next = output_of(arrowdevice_array_to_device, array.get(), sample.schema.get(), to, &options);
      expect(array.released(), "what was moved is not marked released");
      array = std::move(next);
    }
    auto back = output_of(arrowdevice_array_to_host, array.get(), sample.schema.get(), nullptr);
    expect_clean(problem(*sample.schema, *back), "back on the host");
    sample.expect_values(*back);
  });
}

void waits_across_devices(Subject& subject) {
  const Queue queue = subject.queue(subject.peer());
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto first = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_ASYNC);
    must(arrowdevice_queue_wait_array, queue.get(), first.get(), nullptr);
    auto second = subject.copy(*first, *sample.schema, subject.peer(), ARROWDEVICE_COPY_ASYNC, queue.get());
    auto back = subject.to_cpu(*second, *sample.schema);
    sample.expect_values(back->array);
  });
}

constexpr int64_t kPeerRows = 50'000;
constexpr int64_t kPeerBytes = 4 * kPeerRows;

// Returns a new pool. Memory that is freed into it is reused by the next allocation.
Pool new_pool(const Subject& subject) {
  auto* made = output_of(arrowdevice_pool_create, subject.device(), nullptr);
  return Pool(made);
}

bool has_events(const Subject& subject) { return (subject.info().flags & ARROWDEVICE_DEVICE_EVENTS) != 0; }

void does_not_overtake_a_copy(Subject& subject) {
  const HostCase first_case{
      "first", testing::field("i"), {.rows = kPeerRows, .nulls = testing::Nulls::kNone, .seed = 1}};
  const HostCase second_case{
      "second", testing::field("i"), {.rows = kPeerRows, .nulls = testing::Nulls::kNone, .seed = 2}};
  Sample first(first_case);
  Sample second(second_case);
  Backlog backlog(subject);
  const Pool pool = new_pool(subject);
  const Queue held = subject.queue();
  const Queue free_one = subject.queue();
  backlog.hold_up(held.get());

  auto options = sized<arrowdevice_copy_options>();
  options.pool = pool.get();
  options.flags = ARROWDEVICE_COPY_ASYNC;
  options.queue = held.get();
  Owned<ArrowDeviceArray> out;
  const auto copy = [&](const Sample& sample) {
    must(arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), &options, out.out());
  };
  constexpr uint64_t kInHostMemory = ARROWDEVICE_DEVICE_HOST_READABLE | ARROWDEVICE_DEVICE_ADDRESSES;
  // The call waits for the queue if the CPU copies between host memory, or if arrays have no events.
  if ((subject.info().flags & kInHostMemory) == kInHostMemory || !has_events(subject)) backlog.open();
  copy(first);
  out.reset();
  options.flags = 0;
  options.queue = free_one.get();
  copy(second);
  backlog.open();
  finish(held.get());
  auto back = subject.to_cpu(*out, *second.schema);
  second.expect_values(back->array);
}

void does_not_overtake_a_free(Subject& subject) {
  const Bytes sent = pattern(kPeerBytes, 1);
  const HostBuffer source(subject.device(), sent);
  const HostBuffer different(subject.device(), pattern(kPeerBytes, 2));
  const HostBuffer received(subject.device(), kPeerBytes);
  Backlog backlog(subject);
  const Pool pool = new_pool(subject);
  const Queue held = subject.queue();
  const Queue free_one = subject.queue();
  DeviceBuffer buffer(subject.device(), kPeerBytes, pool.get());
  enqueue(held.get(), {region_in(subject.device(), buffer.get(), 0, source.data(), kPeerBytes)});
  backlog.hold_up(held.get());
  enqueue(held.get(), {region_out(received.data(), subject.device(), buffer.get(), 0, kPeerBytes)});
  buffer.free_after(held.get());
  const DeviceBuffer next(subject.device(), kPeerBytes, pool.get());
  enqueue(free_one.get(), {region_in(subject.device(), next.get(), 0, different.data(), kPeerBytes)});
  finish(free_one.get());
  backlog.open();
  finish(held.get());
  expect(received.holds(sent), "memory was used again before the queue that it was freed behind was done with it");
}

void does_not_overtake_a_release(Subject& subject) {
  const Bytes sent = pattern(kPeerBytes, 1);
  const HostBuffer source(subject.device(), sent);
  const HostBuffer received(subject.device(), kPeerBytes);
  const Releases releases = count_releases();
  Backlog backlog(subject);
  const Queue held = subject.queue();
  DeviceBuffer buffer(subject.device(), kPeerBytes);
  enqueue(held.get(), {region_in(subject.device(), buffer.get(), 0, source.data(), kPeerBytes)});
  Owned<ArrowArray> array = array_over(std::move(buffer), kPeerRows, releases);
  auto exported = output_of(arrowdevice_array_export, subject.device(), array.get(), held.get());
  backlog.hold_up(held.get());
  enqueue(held.get(), {region_out(received.data(), subject.device(), exported->array.buffers[1], 0, kPeerBytes)});
  must(arrowdevice_array_release_after, exported.get(), held.get());
  // The bytes have arrived when the array is released, whenever that happens.
  if (*releases != 0) expect(received.holds(sent), "the array was released before the work that uses it");
  backlog.open();
  finish(held.get());
  wait_idle();
  expect(*releases == 1, "the array was released " + std::to_string(*releases) + " times");
  expect(received.holds(sent), "the bytes changed");
}

void waits_for_the_other_device(Subject& subject) {
  const Bytes sent = pattern(kPeerBytes, 3);
  const HostBuffer source(subject.device(), sent);
  Backlog backlog(subject);
  const Queue held = subject.queue();
  DeviceBuffer buffer(subject.device(), kPeerBytes);
  backlog.hold_up(held.get());
  enqueue(held.get(), {region_in(subject.device(), buffer.get(), 0, source.data(), kPeerBytes)});
  Owned<ArrowArray> array = array_over(std::move(buffer), kPeerRows, count_releases());
  if (!has_events(subject)) backlog.open();  // the export waits
  auto exported = output_of(arrowdevice_array_export, subject.device(), array.get(), held.get());
  const auto schema = testing::make_schema(testing::field("i"));
  backlog.open();  // the copy may wait
  auto second = subject.copy(*exported, *schema, subject.peer());
  auto back = subject.to_cpu(*second, *schema);
  expect(values_of(back->array) == sent, "an array was copied before what it waits for was there");
}

// Sends the bytes of the backlog's last copy through the device, on a queue that waits for the backlog. Fails
// unless they arrive.
void expect_arrived(Subject& subject, Backlog& backlog, arrowdevice_queue* waiting) {
  const auto size = static_cast<int64_t>(backlog.expected().size());
  const HostBuffer received(subject.device(), size);
  const DeviceBuffer buffer(subject.device(), size);
  enqueue(waiting, {region_in(subject.device(), buffer.get(), 0, backlog.arrived().data(), size)});
  enqueue(waiting, {region_out(received.data(), subject.device(), buffer.get(), 0, size)});
  backlog.open();
  finish(waiting);
  expect(received.holds(backlog.expected()), "the queue did not wait");
}

void a_queue_waits_for_the_pile(Subject& subject) {
  const Queue queue = subject.queue();
  Backlog backlog(subject);
  backlog.hold_up(queue.get());
  expect_arrived(subject, backlog, queue.get());
}

void an_import_waits_for_the_pile(Subject& subject) {
  const Queue queue = subject.queue();
  Backlog backlog(subject);
  auto options = sized<arrowdevice_import_options>();
  options.queue = queue.get();
  const auto schema = testing::make_schema(testing::field("i"));
  auto* view = output_of(arrowdevice_array_import, backlog.array(), schema.get(), &options);
  const View owner(view);
  expect_arrived(subject, backlog, queue.get());
}

}  // namespace

std::span<const Case> peer_cases() {
  static constexpr Case kCases[] = {
      {"a copy between two devices of one type has the same values, for every type", kNeedsPeer, copies_between},
      {"slices copy between two devices of one type with their rows, for every type", kNeedsPeer,
       copies_slices_between},
      {"whole copies between two devices keep offsets within bytes, for every type", kNeedsPeer,
       copies_unaligned_bitmaps_between},
      {"pending arrays move along a chain of devices, for every type", kNeedsPeer, moves_along_a_chain},
      {"a queue of one device waits for an array of another", kNeedsPeer, waits_across_devices},
      {"a queue that is held up does not overwrite an array released before its event", kNeedsBacklog,
       does_not_overtake_a_copy},
      {"memory freed behind a queue that is held up is not used before it", kNeedsBacklog, does_not_overtake_a_free},
      {"an array is released behind a queue that is held up, not before", kNeedsBacklog, does_not_overtake_a_release},
      {"an array that is held up is waited for", kNeedsPeer, waits_for_the_other_device},
      {"a queue is held up by a pending array", kNeedsBacklog, a_queue_waits_for_the_pile},
      {"a queue is held up by the import of a pending array", kNeedsBacklog | kNeedsEvents,
       an_import_waits_for_the_pile},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance
