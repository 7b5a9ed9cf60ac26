// SPDX-License-Identifier: Apache-2.0
// Provides a simulated device with a mistake, which $ARROWDEVICE_TEST_PLANTED selects. `arrowdevice check`
// must find each mistake at normal speed. Without a name the device passes the check.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/plugin_entry.h"
#include "sim/simulation.h"
#include "sim/table.h"

namespace {

using Region = arrowdevice_backend_region;
using Regions = std::vector<Region>;
using Error = arrowdevice_error;

constexpr int64_t kMiB = 1 << 20;

arrowdevice_backend table{};
arrowdevice_backend right{};  // the simulator's table, unchanged
std::recursive_mutex mutex;   // guards the state of the mistakes

int submit(void* queue, const Regions& regions, Error* error) {
  return regions.empty() ? 0 : right.queue_copy(queue, regions.data(), static_cast<int64_t>(regions.size()), error);
}

// A mistake that changes the regions of a batch.
template <void (*change)(Regions&)>
int changed_copy(void* queue, const Region* regions, int64_t n, Error* error) {
  Regions wrong(regions, regions + n);
  change(wrong);
  std::erase_if(wrong, [](const Region& region) { return region.size <= 0; });
  return submit(queue, wrong, error);
}
template <void (*change)(Regions&)>
void plant() {
  table.queue_copy = changed_copy<change>;
}

// -- sizes and numbers

template <int64_t most>
void cut(Regions& regions) {
  for (auto& region : regions) region.size = std::min(region.size, most);
}
void lose_tail(Regions& regions) {
  for (auto& region : regions) region.size -= region.size > kMiB ? region.size % 64 : 0;
}
template <size_t most>
void first_ones(Regions& regions) {
  if (regions.size() > most) regions.resize(most);
}
void lose_last_of_many(Regions& regions) {
  if (regions.size() > 100) regions.pop_back();
}
// Truncates offsets to 24 bits.
void short_offsets(Regions& regions) {
  for (auto& region : regions) {
    if (region.dst_device != nullptr) region.dst_offset %= 16 * kMiB;
  }
}
void first_offset_for_all(Regions& regions) {
  for (auto& region : regions) {
    if (regions.size() > 4'096 && region.src_device != nullptr) region.src_offset = regions.front().src_offset;
  }
}
void within_loses_large(Regions& regions) {
  for (auto& region : regions) {
    if (region.dst_device != nullptr && region.src_device != nullptr) region.size = std::min(region.size, 2 * kMiB);
  }
}

// Ignores regions beyond a buffer, and reports success.
int ignores_bounds(void* queue, const Region* regions, int64_t n, Error* error) {
  const int code = right.queue_copy(queue, regions, n, error);
  return code == EINVAL ? 0 : code;
}

// -- order

std::map<void*, void*> side_queues;    // large batches go to a second queue; the key is the first queue
std::map<void*, void*> pending_waits;  // the next copy on the queue waits for this event
std::map<void*, void*> devices_of_queues;

int queue_create(void* device, void** queue, Error* error) {
  const std::lock_guard lock(mutex);
  const int code = right.queue_create(device, queue, error);
  if (code == 0) devices_of_queues[*queue] = device;
  return code;
}

void forget_queue(void* queue) {
  const std::lock_guard lock(mutex);
  pending_waits.erase(queue);
  devices_of_queues.erase(queue);
  if (const auto side = side_queues.find(queue); side != side_queues.end()) {
    right.queue_destroy(side->second);
    side_queues.erase(side);
  }
}

void queue_destroy(void* queue) {
  forget_queue(queue);
  right.queue_destroy(queue);
}

// Submits a large batch to a second queue. Later work waits for the batch, but the batch does not wait for
// earlier work.
int large_apart(void* queue, const Region* regions, int64_t n, Error* error) {
  const std::lock_guard lock(mutex);
  int64_t bytes = 0;
  for (int64_t i = 0; i < n; ++i) bytes += regions[i].size;
  const auto device = devices_of_queues.find(queue);
  if (device == devices_of_queues.end() || (n < 1'000 && bytes < 4 * kMiB))
    return right.queue_copy(queue, regions, n, error);
  void*& side = side_queues[queue];
  if (side == nullptr) {
    if (const int code = right.queue_create(device->second, &side, error); code != 0) return code;
  }
  void* event = nullptr;
  if (const int code = right.queue_copy(side, regions, n, error); code != 0) return code;
  if (const int code = right.event_record(side, &event, error); code != 0) return code;
  const int code = right.queue_wait_event(queue, event, error);
  right.event_destroy(event);
  return code;
}

// Delays a wait until the next copy, so that an event that is recorded before the copy does not wait.
int settle_wait(void* queue, Error* error) {
  const auto found = pending_waits.find(queue);
  if (found == pending_waits.end()) return 0;
  void* const event = found->second;
  pending_waits.erase(found);
  return right.queue_wait_event(queue, event, error);
}
int wait_late(void* queue, void* event, Error*) {
  const std::lock_guard lock(mutex);
  pending_waits[queue] = event;
  return 0;
}
int copy_after_wait(void* queue, const Region* regions, int64_t n, Error* error) {
  const std::lock_guard lock(mutex);
  if (const int code = settle_wait(queue, error); code != 0) return code;
  return right.queue_copy(queue, regions, n, error);
}
void destroy_with_waits(void* event) {
  const std::lock_guard lock(mutex);
  std::erase_if(pending_waits, [&](const auto& wait) { return wait.second == event; });
  right.event_destroy(event);
}
int record_after_wait(void* queue, void** event, Error* error) {
  const std::lock_guard lock(mutex);
  if (const int code = settle_wait(queue, error); code != 0) return code;
  return right.event_record(queue, event, error);
}

// Records an event on an idle queue if no copy came before the event.
std::set<void*> queues_with_copies;
int copy_and_note(void* queue, const Region* regions, int64_t n, Error* error) {
  const std::lock_guard lock(mutex);
  queues_with_copies.insert(queue);
  return right.queue_copy(queue, regions, n, error);
}
int record_at_once(void* queue, void** event, Error* error) {
  const std::lock_guard lock(mutex);
  const auto device = devices_of_queues.find(queue);
  if (queues_with_copies.erase(queue) > 0 || device == devices_of_queues.end()) {
    return right.event_record(queue, event, error);
  }
  void* idle = nullptr;
  if (const int code = right.queue_create(device->second, &idle, error); code != 0) return code;
  const int code = right.event_record(idle, event, error);
  right.queue_destroy(idle);
  return code;
}

// Honours only the first wait of a queue.
std::set<void*> queues_that_wait;
int wait_once(void* queue, void* event, Error* error) {
  const std::lock_guard lock(mutex);
  return queues_that_wait.insert(queue).second ? right.queue_wait_event(queue, event, error) : 0;
}
void destroy_waiting(void* queue) {
  {
    const std::lock_guard lock(mutex);
    queues_that_wait.erase(queue);
  }
  right.queue_destroy(queue);
}

// -- events

int query_blocks(void* event, int* ready, Error* error) {
  if (const int code = right.event_wait(event, ARROWDEVICE_NO_TIMEOUT, error); code != 0) return code;
  *ready = 1;
  return 0;
}
int poll_blocks(void* event, int64_t timeout_ns, Error* error) {
  constexpr int64_t kShort = 1'000'000;
  return right.event_wait(event, timeout_ns < kShort ? ARROWDEVICE_NO_TIMEOUT : timeout_ns, error);
}
int wait_gives_up(void* event, int64_t timeout_ns, Error* error) {
  constexpr int64_t kMillisecond = 1'000'000;
  if (timeout_ns != ARROWDEVICE_NO_TIMEOUT) return right.event_wait(event, timeout_ns, error);
  const int code = right.event_wait(event, kMillisecond, error);
  return code == ETIMEDOUT ? 0 : code;
}
int timed_wait_gives_up(void* event, int64_t timeout_ns, Error* error) {
  const int code = right.event_wait(event, std::min<int64_t>(timeout_ns, 1'000), error);
  return code == ETIMEDOUT && timeout_ns > 1'000'000'000 ? 0 : code;
}
int never_times_out(void* event, int64_t timeout_ns, Error* error) {
  const int code = right.event_wait(event, timeout_ns, error);
  return code == ETIMEDOUT ? 0 : code;
}

int publish_in_a_ring(void* event, void** sync_event, Error* error) {
  static std::array<void*, 16> ring;
  static size_t next = 0;
  void* place = nullptr;
  if (const int code = right.event_publish(event, &place, error); code != 0) return code;
  const std::lock_guard lock(mutex);
  *sync_event = &ring[next++ % ring.size()];
  std::memcpy(*sync_event, place, sizeof(void*));
  return 0;
}

// -- memory

int sub_of_the_whole(void* device, const void* buffer, int64_t offset, int64_t size, void** out, Error* error) {
  static std::map<const void*, const void*> wholes;
  const std::lock_guard lock(mutex);
  const auto whole = wholes.find(buffer);
  const void* const of = whole != wholes.end() ? whole->second : buffer;
  const int code = right.sub_buffer_create(device, of, offset, size, out, error);
  if (code == 0) wholes[*out] = of;
  return code;
}
int short_sub(void* device, const void* buffer, int64_t offset, int64_t size, void** out, Error* error) {
  return right.sub_buffer_create(device, buffer, offset, std::max<int64_t>(size - 1, 1), out, error);
}
int tells_more(void* device, const void* buffer, arrowdevice_pointer_info* out, Error* error) {
  const int code = right.pointer_get_info(device, buffer, out, error);
  if (code == 0 && out->size > 0) out->size *= 2;
  return code;
}
void plant_waits_at_copies() {
  table.queue_wait_event = wait_late;
  table.queue_copy = copy_after_wait;
  table.event_record = record_after_wait;
  table.event_destroy = destroy_with_waits;
  table.queue_destroy = queue_destroy;
}
void plant_events_of_idle_queues() {
  table.queue_create = queue_create;
  table.queue_destroy = queue_destroy;
  table.queue_copy = copy_and_note;
  table.event_record = record_at_once;
}
void plant_large_apart() {
  table.queue_create = queue_create;
  table.queue_destroy = queue_destroy;
  table.queue_copy = large_apart;
}

const std::map<std::string, void (*)()>& mistakes() {
  static const std::map<std::string, void (*)()> all = {
      {"", [] {}},
      {"cut_at_16_mib", plant<cut<16 * kMiB>>},
      {"cut_at_4_mib", plant<cut<4 * kMiB>>},
      {"tail_beyond_1_mib", plant<lose_tail>},
      {"first_1024_regions", plant<first_ones<1'024>>},
      {"first_255_regions", plant<first_ones<255>>},
      {"last_of_many", plant<lose_last_of_many>},
      {"short_offsets", plant<short_offsets>},
      {"one_offset_for_many", plant<first_offset_for_all>},
      {"large_within", plant<within_loses_large>},
      {"no_bounds", [] { table.queue_copy = ignores_bounds; }},
      {"large_unordered", plant_large_apart},
      {"event_without_copy", plant_events_of_idle_queues},
      {"wait_lost_with_event", plant_waits_at_copies},
      {"one_wait",
       [] {
         table.queue_wait_event = wait_once;
         table.queue_destroy = destroy_waiting;
       }},
      {"no_wait", [] { table.queue_wait_event = [](void*, void*, Error*) { return 0; }; }},
      {"query_blocks", [] { table.event_query = query_blocks; }},
      {"poll_blocks", [] { table.event_wait = poll_blocks; }},
      {"wait_gives_up", [] { table.event_wait = wait_gives_up; }},
      {"timed_wait_gives_up", [] { table.event_wait = timed_wait_gives_up; }},
      {"never_times_out", [] { table.event_wait = never_times_out; }},
      {"published_in_a_ring", [] { table.event_publish = publish_in_a_ring; }},
      {"sub_of_the_whole", [] { table.sub_buffer_create = sub_of_the_whole; }},
      {"short_sub", [] { table.sub_buffer_create = short_sub; }},
      {"tells_more", [] { table.pointer_get_info = tells_more; }},
  };
  return all;
}

const arrowdevice_backend& planted_table() {
  static const bool made = [] {
    const auto configuration = arrowdevice::sim::Configuration::from_environment();
    arrowdevice::sim::simulation().configure(configuration);
    table = right = arrowdevice::sim::make_table(configuration.without);
    table.name = "planted";
    const char* const name = std::getenv("ARROWDEVICE_TEST_PLANTED");
    mistakes().at(name != nullptr ? name : "")();
    return true;
  }();
  (void)made;
  return table;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::enter_plugin("planted", host_abi, error, planted_table);
}
