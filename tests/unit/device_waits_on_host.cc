// SPDX-License-Identifier: Apache-2.0
// Tests devices that cannot wait for a foreign event, so that their backend waits in queue_wait_event. The
// devices are simulated. This is a separate program, because a backend is registered once per process.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

const arrowdevice_backend* simulated = nullptr;

// Imported events that the backend does not recognize as its own, such as a foreign VkEvent or sycl::event.
struct Imported {
  std::mutex mutex;
  std::set<void*> events;
} imported;
std::atomic<bool> knows_events = false;  // true if the backend recognizes its own events on import, as with a VkEvent
std::atomic<int> waits_in_queue{0};      // waits in progress, in queue_wait_event
std::atomic<int> waits{0};               // the number of waits begun in event_wait for a foreign event
thread_local int waits_here = 0;         // the waits of this thread

int describe(void* device, arrowdevice_device_info* out, arrowdevice_error* error) {
  const int code = simulated->device_get_info(device, out, error);
  out->flags |= ARROWDEVICE_DEVICE_WAIT_BLOCKS;
  return code;
}

int import_event(void* device, void* sync_event, void** event, arrowdevice_error* error) {
  const int code = simulated->event_import(device, sync_event, event, error);
  const std::lock_guard lock(imported.mutex);
  if (code == 0 && !knows_events) imported.events.insert(*event);
  return code;
}

void destroy_event(void* event) {
  {
    const std::lock_guard lock(imported.mutex);
    imported.events.erase(event);
  }
  simulated->event_destroy(event);
}

bool is_foreign(void* event) {
  const std::lock_guard lock(imported.mutex);
  return imported.events.contains(event);
}

int wait_in_queue(void* queue, void* event, arrowdevice_error* error) {
  int ready = 0;
  int code = simulated->event_query(event, &ready, error);
  if (code == 0 && ready == 0 && is_foreign(event)) {
    ++waits_in_queue;
    code = simulated->event_wait(event, ARROWDEVICE_NO_TIMEOUT, error);
    --waits_in_queue;
  }
  return code == 0 ? simulated->queue_wait_event(queue, event, error) : code;
}

int wait_for_event(void* event, int64_t timeout_ns, arrowdevice_error* error) {
  if (is_foreign(event)) ++waits;
  ++waits_here;
  return simulated->event_wait(event, timeout_ns, error);
}

void begin_waiting(bool knows_its_own) {
  control::reset(configuration());
  static const int registered = [] {
    simulated = control::table();
    static arrowdevice_backend table = *simulated;
    table.device_get_info = describe;
    table.event_import = import_event;
    table.event_destroy = destroy_event;
    table.queue_wait_event = wait_in_queue;
    table.event_wait = wait_for_event;
    return arrowdevice_backend_register(&table, nullptr);
  }();
  REQUIRE(registered == 0);
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  knows_events = knows_its_own;
  waits = 0;
}

TEST_CASE("the application takes a wrapped queue back while its stream waits for an event") {
  begin_waiting(false);
  const Sample sample(field("l"), {.rows = 30});
  const Array there = copy(sample, sim(0));
  control::UserEvent written;
  Owned<ArrowArray> plain(copy(*there, *sample.schema, sim(0)).take().array);
  Array pending =
      output_of(arrowdevice_array_export_event, sim(0), plain.get(), written.sync_event(), nullptr, nullptr);

  Queue application = make_queue(sim(0));
  auto native = output_of(arrowdevice_queue_get_native, application.get());
  auto* made = output_of(arrowdevice_queue_wrap, sim(0), &native);
  Queue wrapped(made);

  Owned<ArrowSchema> schema = make_schema(sample.type);
  auto batches = output_of(arrowdevice_stream_from_arrays, schema.get(), pending.get(), int64_t{1},
                           ArrowDeviceType{ARROW_DEVICE_EXT_DEV});
  auto options = sized<arrowdevice_stream_options>();
  options.queue = wrapped.get();
  auto stream = output_of(arrowdevice_stream_to_host, batches.get(), &options);

  waits = 0;
  Owned<ArrowArray> host;
  int code = -1;
  std::atomic<bool> is_done{false};
  std::thread consumer([&] {
    code = stream->get_next(stream.get(), host.out());
    is_done = true;
  });
  while (waits == 0 && waits_in_queue == 0 && !is_done) std::this_thread::yield();
  const bool holds_queue = waits_in_queue != 0;  // if so, unwrapping the queue would wait for the producer
  CHECK_FALSE(holds_queue);
  if (!holds_queue) {
    wrapped.reset();
    application.reset();
  }
  written.set();
  consumer.join();
  REQUIRE(code == 0);
  CHECK(arrowdevice::testing::difference(*sample.schema, *sample.twin, *sample.schema, *host) == "");
  stream.reset();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(control::refused() == 0);
}

TEST_CASE("queues wait on the device for the library's events, unlike for foreign ones") {
  begin_waiting(true);
  const Sample sample(field("l"), {.rows = 30});
  const Array first = copy(sample, sim(0));  // creates the resources that the copies need
  const Array pending = copy(*first, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC | ARROWDEVICE_COPY_ALWAYS);
  REQUIRE(pending->sync_event != nullptr);
  const int64_t queue_waits = control::counters(0).queue_waits;
  const int before = waits_here;
  const Array copied = copy(*pending, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC | ARROWDEVICE_COPY_ALWAYS);
  CHECK(waits_here == before);
  CHECK(control::counters(0).queue_waits > queue_waits);
  CHECK(difference(sample, *copied) == "");
}

}  // namespace
