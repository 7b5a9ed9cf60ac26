// SPDX-License-Identifier: Apache-2.0
// Tests order and completion. The cases run behind slow work on another device, or behind a gate, so that the device
// under test need not be slow.
#include <algorithm>
#include <cerrno>
#include <set>

#include "conformance/backlog.h"

namespace arrowdevice::conformance {

namespace {

constexpr int kOrderRounds = 4;
constexpr int64_t kMarkRows = 1'000;

bool has_fired(const ArrowDeviceArray& array) {
  int ready = -1;
  must(arrowdevice_array_is_ready, &array, nullptr, &ready);
  return ready == 1;
}

// Returns an array with an event that fires when the queue has come this far. The function does not copy.
Owned<ArrowDeviceArray> mark_of(const Subject& subject, arrowdevice_queue* queue) {
  Owned<ArrowArray> array = array_over(DeviceBuffer(subject.device(), 4 * kMarkRows), kMarkRows, count_releases());
  return output_of(arrowdevice_array_export, subject.device(), array.get(), queue);
}

void an_event_behind_a_wait_waits(Subject& subject) {
  for (int round = 0; round < kOrderRounds; ++round) {
    Backlog backlog(subject);
    const Queue queue = subject.queue();
    backlog.hold_up(queue.get());
    auto marked = mark_of(subject, queue.get());
    expect(!has_fired(*marked) || has_fired(*backlog.array()), "an event fired before what its queue waits for");
    backlog.open();
    must(arrowdevice_array_wait, marked.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    expect(has_fired(*backlog.array()), "an event was waited for and fired before what its queue waits for");
    expect(backlog.has_arrived(), "an event fired before the bytes that its queue waits for arrived");
  }
}

void a_wait_outlives_its_event(Subject& subject) {
  for (int round = 0; round < kOrderRounds; ++round) {
    Backlog backlog(subject);
    const Queue queue = subject.queue();
    backlog.hold_up(queue.get());
    arrowdevice_array_release(backlog.array());
    backlog.open();
    finish(queue.get());
    expect(backlog.has_arrived(), "a queue does not wait for an event that was destroyed");
  }
}

void a_queue_waits_for_two(Subject& subject) {
  constexpr int64_t kShort = 1'000'000;  // nanoseconds
  for (const bool opens_first : {false, true, false, true}) {
    Backlog first(subject);
    Backlog second(subject);
    const Queue queue = subject.queue();
    first.hold_up(queue.get());
    second.hold_up(queue.get());
    (opens_first ? first : second).open();
    if (first.is_gated()) {
      expect(arrowdevice_queue_finish(queue.get(), kShort, nullptr) == ETIMEDOUT, "a queue does not wait for a gate");
    }
    (opens_first ? second : first).open();
    finish(queue.get());
    expect(first.has_arrived() && second.has_arrived(), "a queue waits for one of two events only");
  }
}

// Fails unless a batch that reads a buffer runs after the copy that writes the buffer, while the queue is held up.
void expect_in_order(Subject& subject, int64_t size, int64_t regions) {
  const Bytes after = pattern(size, 2);
  const HostBuffer old_bytes(subject.device(), pattern(size, 1));
  const HostBuffer new_bytes(subject.device(), after);
  const HostBuffer received(subject.device(), size);
  const DeviceBuffer buffer(subject.device(), size);
  const DeviceBuffer other(subject.device(), size);
  const Queue queue = subject.queue();
  enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, old_bytes.data(), size)});
  finish(queue.get());
  Backlog backlog(subject);
  backlog.hold_up(queue.get());
  std::vector<arrowdevice_copy_region> within;
  std::vector<arrowdevice_copy_region> out;
  const int64_t piece = size / regions;
  for (int64_t i = 0; i < regions; ++i) {
    within.push_back({subject.device(), other.get(), i * piece, subject.device(), buffer.get(), i * piece, piece, 0});
    out.push_back(region_out(received.data() + i * piece, subject.device(), other.get(), i * piece, piece));
  }
  {
    const OpensSoon soon(backlog);
    enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, new_bytes.data(), size)});
    enqueue(queue.get(), within);
    enqueue(queue.get(), out);
  }
  finish(queue.get());
  expect(received.holds(after),
         std::to_string(regions) + " regions of " + std::to_string(piece) + " bytes overtook earlier work");
}

void large_batches_are_in_order(Subject& subject) {
  expect_in_order(subject, 64'000, 1);
  expect_in_order(subject, 64'000, 4'000);
  expect_in_order(subject, 20 << 20, 1);
  expect_in_order(subject, 20 << 20, 64);
}

// Waits for a moment and returns whether the event has fired. Some of the moment is left when the call reaches the
// backend, and a backlog takes much longer.
bool ends_at_once(const ArrowDeviceArray& array) {
  constexpr int64_t kMoment = 20'000;  // nanoseconds
  const int code = arrowdevice_array_wait(&array, nullptr, kMoment, nullptr);
  expect(code == 0 || code == ETIMEDOUT, "a short wait gave code " + std::to_string(code));
  expect(code != 0 || has_fired(array), "a short wait came back without its event");
  return code == 0;
}

// Returns true if `second` found the event fired each time that `first` had found the event pending, `wanted` times
// in a row. A device may finish between the two checks. It cannot finish there each time. The peer works on `copies`
// copies meanwhile.
template <typename First, typename Second>
bool always_disagree(Subject& subject, int copies, int wanted, First first, Second second) {
  int disagreed = 0;
  for (int round = 0; round < 2 * wanted && disagreed < wanted; ++round) {
    Backlog backlog(subject, copies);
    backlog.open();  // a call that blocks then ends with the copies
    if (first(*backlog.array())) continue;
    if (!second(*backlog.array())) return false;
    ++disagreed;
  }
  return disagreed == wanted;
}

// On a busy machine the thread may stand still between the checks for as long as a few copies take. A call that
// blocks does so however long the copies take, so a second series decides.
template <typename First, typename Second>
bool blocks(Subject& subject, First first, Second second) {
  return always_disagree(subject, Backlog::kFewCopies, 12, first, second) &&
         always_disagree(subject, 16 * Backlog::kFewCopies, 6, first, second);
}

void a_question_does_not_block(Subject& subject) {
  expect(!blocks(subject, ends_at_once, has_fired), "the answer whether an event has fired came only when it had");
  expect(!blocks(subject, has_fired, ends_at_once), "a short wait ended only with its event");
}

void a_wait_ends_with_its_event(Subject& subject) {
  constexpr int64_t kLong = 60'000'000'000;
  for (int round = 0; round < kOrderRounds; ++round) {
    Backlog backlog(subject);
    backlog.open();
    must(arrowdevice_array_wait, backlog.array(), nullptr, round % 2 ? kLong : ARROWDEVICE_NO_TIMEOUT);
    expect(has_fired(*backlog.array()), "a wait came back before its event had fired");
    expect(backlog.has_arrived(), "a wait came back before the bytes were there");
  }
}

// The format requires a pointer to the native event. The pointer must stay valid as long as the array lives.
void published_events_keep_their_places(Subject& subject) {
  constexpr int kEvents = 80;
  const Queue queue = subject.queue();
  const DeviceBuffer buffer(subject.device(), 64);
  const Bytes bytes = pattern(64);
  std::vector<Owned<ArrowDeviceArray>> arrays;
  std::vector<void*> events;
  std::set<void*> places;
  for (int i = 0; i < kEvents; ++i) {
    enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, bytes.data(), 64)});
    arrays.push_back(mark_of(subject, queue.get()));
    void* const place = arrays.back()->sync_event;
    if (place == nullptr) return finish(queue.get());  // the event has fired
    places.insert(place);
    events.push_back(*static_cast<void**>(place));
  }
  for (size_t i = 0; i < events.size(); ++i) {
    expect(*static_cast<void**>(arrays[i]->sync_event) == events[i], "a published event became another one");
  }
  expect(places.size() == arrays.size(), "two arrays that are alive have their events at one place");
  finish(queue.get());
}

}  // namespace

std::span<const Case> order_cases() {
  static constexpr Case kCases[] = {
      {"an event behind a wait alone fires after it", kNeedsBacklog | kNeedsEvents, an_event_behind_a_wait_waits},
      {"a queue waits for an event that is destroyed meanwhile", kNeedsBacklog, a_wait_outlives_its_event},
      {"a queue waits for two events", kNeedsBacklog, a_queue_waits_for_two},
      {"large batches run in the order of their queue", kNeedsBacklog, large_batches_are_in_order},
      {"event queries and short waits do not block", kNeedsBacklog | kNeedsEvents, a_question_does_not_block},
      {"a wait ends when its event has fired", kNeedsBacklog | kNeedsEvents, a_wait_ends_with_its_event},
      {"published events keep their addresses", kNeedsEvents, published_events_keep_their_places},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance
