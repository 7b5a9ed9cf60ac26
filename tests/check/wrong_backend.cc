// SPDX-License-Identifier: Apache-2.0
// Provides a simulated device with a mistake, which WRONG selects. Each mistake is a plugin, and `arrowdevice
// check` must find it. Without a mistake (WRONG_NOTHING) the device passes the check.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/plugin_entry.h"
#include "sim/simulation.h"
#include "sim/table.h"

namespace {

using Region = arrowdevice_backend_region;

arrowdevice_backend table{};
arrowdevice_backend right{};  // the simulator's table, unchanged

#if defined(WRONG_ODD_OFFSETS)
// Loses the last byte of a region if exactly one of its offsets is odd.
int copy(void* queue, const Region* regions, int64_t n, arrowdevice_error* error) {
  std::vector<Region> wrong(regions, regions + n);
  for (Region& region : wrong) {
    if ((region.dst_offset + region.src_offset) % 2 != 0 && region.size > 1) --region.size;
  }
  return right.queue_copy(queue, wrong.data(), n, error);
}
void spoil() { table.queue_copy = copy; }

#elif defined(WRONG_TOO_EARLY)
int event_query(void*, int* ready, arrowdevice_error*) {
  *ready = 1;
  return 0;
}
int event_wait(void*, int64_t, arrowdevice_error*) { return 0; }
void spoil() {
  table.event_query = event_query;
  table.event_wait = event_wait;
}

#elif defined(WRONG_NEVER)
int event_query(void*, int* ready, arrowdevice_error*) {
  *ready = 0;
  return 0;
}
int event_wait(void*, int64_t timeout_ns, arrowdevice_error*) {
  static std::mutex mutex;
  static std::condition_variable never;
  std::unique_lock lock(mutex);
  const auto is_over = [] { return false; };
  if (timeout_ns == ARROWDEVICE_NO_TIMEOUT) never.wait(lock, is_over);
  never.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_over);
  return ETIMEDOUT;
}
void spoil() {
  table.event_query = event_query;
  table.event_wait = event_wait;
}

#elif defined(WRONG_ORDER)
// Submits the copies in reverse order when an event is recorded.
std::mutex mutex;
std::deque<std::pair<void*, std::vector<Region>>> held;
int copy(void* queue, const Region* regions, int64_t n, arrowdevice_error*) {
  const std::lock_guard lock(mutex);
  held.emplace_front(queue, std::vector<Region>(regions, regions + n));
  return 0;
}
int event_record(void* queue, void** event, arrowdevice_error* error) {
  const std::lock_guard lock(mutex);
  for (; !held.empty(); held.pop_front()) {
    const auto& [to, regions] = held.front();
    const int code = right.queue_copy(to, regions.data(), static_cast<int64_t>(regions.size()), error);
    if (code != 0) return code;
  }
  return right.event_record(queue, event, error);
}
void spoil() {
  table.queue_copy = copy;
  table.event_record = event_record;
}

#elif defined(WRONG_LEAK)
void buffer_free(void*, void*, void*) {}
void spoil() { table.buffer_free = buffer_free; }

#elif defined(WRONG_NO_WAIT)
int queue_wait_event(void*, void*, arrowdevice_error*) { return 0; }
void spoil() { table.queue_wait_event = queue_wait_event; }

#elif defined(WRONG_SIZE)
int buffer_allocate(void* device, void* queue, int64_t size, int64_t alignment, void** out, arrowdevice_error* error) {
  return right.buffer_allocate(device, queue, std::max<int64_t>(size / 2, 1), alignment, out, error);
}
void spoil() { table.buffer_allocate = buffer_allocate; }

#elif defined(WRONG_DOES_NOTHING)
int copy(void*, const Region*, int64_t, arrowdevice_error*) { return 0; }
void spoil() { table.queue_copy = copy; }

#elif defined(WRONG_ONE_THREAD)
// Copies only on the thread that copied first. A backend that makes its context current only once has this
// mistake.
int copy(void* queue, const Region* regions, int64_t n, arrowdevice_error* error) {
  static const std::thread::id first = std::this_thread::get_id();
  return std::this_thread::get_id() == first ? right.queue_copy(queue, regions, n, error) : 0;
}
void spoil() { table.queue_copy = copy; }

#elif defined(WRONG_BOOKS) || defined(WRONG_EARLY_BOOKS)
// Uses an object in buffer_free that is destroyed at exit.
struct Books {
  ~Books() { are_gone = true; }
  static inline std::atomic<bool> are_gone{false};  // has no destructor
};
#if defined(WRONG_EARLY_BOOKS)
Books books;  // made when the plugin is loaded, so the library's exit handler runs before its destructor
#endif
int buffer_allocate(void* device, void* queue, int64_t size, int64_t alignment, void** out, arrowdevice_error* error) {
#if defined(WRONG_BOOKS)
  static Books books;  // made long after the device was opened
#endif
  return right.buffer_allocate(device, queue, size, alignment, out, error);
}
void buffer_free(void* device, void* queue, void* buffer) {
  if (Books::are_gone) std::abort();
  right.buffer_free(device, queue, buffer);
}
void spoil() {
  table.buffer_allocate = buffer_allocate;
  table.buffer_free = buffer_free;
}

#elif defined(WRONG_EVENT_BOOKS)
// Uses an object in event_destroy that is destroyed at exit.
struct Books {
  ~Books() { are_gone = true; }
  static inline std::atomic<bool> are_gone{false};
};
int event_record(void* queue, void** event, arrowdevice_error* error) {
  static Books books;
  return right.event_record(queue, event, error);
}
void event_destroy(void* event) {
  if (Books::are_gone) std::abort();
  right.event_destroy(event);
}
void spoil() {
  table.event_record = event_record;
  table.event_destroy = event_destroy;
}

#elif defined(WRONG_EXIT)
// Aborts in an exit handler, as a driver may do if its backend calls it after its shutdown.
struct AtExit {
  ~AtExit() { std::abort(); }
};
void spoil() { static AtExit at_exit; }

#else
void spoil() {}
#endif

const arrowdevice_backend& wrong_table() {
  static const bool made = [] {
    const auto configuration = arrowdevice::sim::Configuration::from_environment();
    arrowdevice::sim::simulation().configure(configuration);
    table = right = arrowdevice::sim::make_table(configuration.without);
    table.name = WRONG_NAME;
    spoil();
    return true;
  }();
  (void)made;
  return table;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::enter_plugin("wrong", host_abi, error, wrong_table);
}
