// SPDX-License-Identifier: Apache-2.0
// Tests wrapped queues. The application may destroy its native queue as soon as arrowdevice_queue_destroy()
// returns. The simulated backend rejects and counts each use of a destroyed queue.
#include <algorithm>
#include <optional>

#include "device/devices.h"
#include "device/queue.h"
#include "stream_handler.h"
#include "support/blocking_call.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::BlockingCall;

// A queue that the application made, and the library's wrapper of it.
struct Wrapped {
  Wrapped() : application(make_queue(sim(0))) {
    native.struct_size = sizeof native;
    must(arrowdevice_queue_get_native, application.get(), &native);
    auto* made = output_of(arrowdevice_queue_wrap, sim(0), &native);
    queue.reset(made);
  }

  // Destroys both queues in a row, as a program does.
  void destroy() {
    queue.reset();
    application.reset();
  }

  Queue application;
  arrowdevice_native_queue native{};
  Queue queue;
};

// Delays the later work of a queue until the event is set.
struct Gate {
  explicit Gate(const Sample& sample) {
    Owned<ArrowArray> plain(copy(sample, sim(0)).take().array);
    must(arrowdevice_array_export_event, sim(0), plain.get(), event.sync_event(), nullptr, nullptr, array.out());
  }

  void before(const Queue& queue) { must(arrowdevice_queue_wait_array, queue.get(), array.get(), nullptr); }

  control::UserEvent event;
  Array array;
};

void check_untouched() {
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(control::refused() == 0);
  for (const auto& refusal : control::refusals()) CHECK(refusal == "");
}

TEST_CASE("a stream continues after its wrapped queue is destroyed, behind that work") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    Gate gate(sample);
    Wrapped wrapped;
    auto options = stream_options(flags, 2);
    options.queue = wrapped.queue.get();
    DeviceStream stream = to_device(stream_of(batches_of(sample, kRows)), sim(0), options);
    const Array first = next(stream);
    gate.before(wrapped.application);
    wrapped.destroy();
    std::vector<Array> later;
    for (int i = 0; i < 4; ++i) later.push_back(next(stream));
    CHECK(is_ready(*later.back()) == 0);  // the application's work runs first
    gate.event.set();
    CHECK(difference(sample, *first) == "");
    for (int i = 0; i < 4; ++i) CHECK(difference(sample, *later[static_cast<size_t>(i)], (i + 1) * kRows) == "");
    CHECK(difference_of_rest(sample, kRows, stream, 5 * kRows) == "");
    stream.reset();
    check_untouched();
  }
}

TEST_CASE("a stream does not need a wrapped queue that is destroyed before the first batch") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  Wrapped wrapped;
  auto options = stream_options();
  options.queue = wrapped.queue.get();
  DeviceStream there = to_device(stream_of(batches_of(sample, kRows)), sim(0), options);
  HostStream back = to_host(stream_of(batches_of(sample, kRows, sim(0)), ARROW_DEVICE_EXT_DEV), options);
  wrapped.destroy();
  CHECK(difference_of_rest(sample, kRows, there) == "");
  CHECK(difference_of_rest(sample, kRows, back) == "");
  check_untouched();
}

TEST_CASE("an async stream goes on without a wrapped queue that was destroyed") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  Wrapped wrapped;
  auto options = async_options();
  options.queue = wrapped.queue.get();
  ArrowAsyncDeviceStreamHandler *collecting = nullptr, *moving = nullptr;
  DeviceStream stream;
  must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, nullptr, &collecting, stream.out());
  must(arrowdevice_async_to_device, collecting, sim(0), &options, &moving);
  wrapped.destroy();
  DeviceStream produced = stream_of(batches_of(sample, kRows));
  must(arrowdevice_async_produce, produced.get(), moving, nullptr);
  CHECK(difference_of_rest(sample, kRows, stream) == "");
  stream.reset();
  check_untouched();
}

TEST_CASE("an application's allocator never gets a destroyed wrapped queue's handle") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  auto device = output_of(arrowdevice_device_get_native, sim(0));
  struct Seen {
    void* device;
    std::vector<void*> queues;
  } seen{device.device, {}};
  auto allocating = pool_options();
  allocating.max_cached_bytes = -1;
  allocating.allocate = [](void* user, int64_t size, int64_t alignment, void* native_queue, void** out) {
    enter_callback("allocate of a pool");
    auto& noted = *static_cast<Seen*>(user);
    noted.queues.push_back(native_queue);
    arrowdevice_error error{};
    return control::table()->buffer_allocate(noted.device, nullptr, size, alignment, out, &error);
  };
  allocating.deallocate = [](void* user, void* buffer, int64_t, void*) {
    enter_callback("deallocate of a pool");
    control::table()->buffer_free(static_cast<Seen*>(user)->device, nullptr, buffer);
  };
  allocating.user = &seen;
  const Pool pool = make_pool(sim(0), &allocating);
  Wrapped wrapped;
  auto options = stream_options(0, 1);
  options.queue = wrapped.queue.get();
  options.pool = pool.get();
  DeviceStream stream = to_device(stream_of(batches_of(sample, kRows)), sim(0), options);
  CHECK(difference(sample, *next(stream)) == "");
  REQUIRE(seen.queues.size() == 1);
  CHECK(seen.queues[0] == wrapped.native.queue);
  wrapped.destroy();
  CHECK(difference_of_rest(sample, kRows, stream, kRows) == "");
  CHECK(seen.queues.size() == 3);
  CHECK(std::count(seen.queues.begin(), seen.queues.end(), wrapped.native.queue) == 1);
  stream.reset();
  check_untouched();
}

TEST_CASE("the destruction of a wrapped queue waits for an allocator that has its handle") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  auto device = output_of(arrowdevice_device_get_native, sim(0));
  Wrapped wrapped;
  struct Slow {
    Wrapped& wrapped;
    void* device;
    std::optional<BlockingCall> destroying = std::nullopt;
    bool has_waited = false;
  } slow{wrapped, device.device};
  auto allocating = pool_options();
  allocating.allocate = [](void* user, int64_t size, int64_t alignment, void*, void** out) {
    auto& self = *static_cast<Slow*>(user);
    if (!self.destroying) {
      self.destroying.emplace([&self] { self.wrapped.destroy(); });
      self.has_waited = self.destroying->waits();
    }
    arrowdevice_error error{};
    return control::table()->buffer_allocate(self.device, nullptr, size, alignment, out, &error);
  };
  allocating.deallocate = [](void* user, void* buffer, int64_t, void*) {
    control::table()->buffer_free(static_cast<Slow*>(user)->device, nullptr, buffer);
  };
  allocating.user = &slow;
  const Pool pool = make_pool(sim(0), &allocating);
  auto options = stream_options(0, 1);
  options.queue = wrapped.queue.get();
  options.pool = pool.get();
  DeviceStream stream = to_device(stream_of(batches_of(sample, kRows)), sim(0), options);
  const Array first = next(stream);
  slow.destroying->join();
  CHECK(slow.has_waited);
  CHECK(difference(sample, *first) == "");
  CHECK(difference_of_rest(sample, kRows, stream, kRows) == "");
  stream.reset();
  check_untouched();
}

TEST_CASE("arrays and buffers behind a wrapped queue outlive the queue") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 30});
  Gate gate(sample);
  Wrapped wrapped;
  gate.before(wrapped.application);

  Owned<ArrowArray> plain(copy(sample, sim(0)).take().array);
  Array written = output_of(arrowdevice_array_export, sim(0), plain.get(), wrapped.queue.get());
  auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  options.queue = wrapped.queue.get();
  const Array copied = copy(*sample.host, *sample.schema, sim(0), options);
  Array released = copy(sample, sim(0));
  must(arrowdevice_array_release_after, released.get(), wrapped.queue.get());
  arrowdevice_view* view = nullptr;
  Array viewed = copy(sample, sim(0));
  must(arrowdevice_array_import, viewed.get(), sample.schema.get(), nullptr, &view);
  must(arrowdevice_view_release_after, view, wrapped.queue.get());
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), nullptr, wrapped.queue.get(), 4096);
  arrowdevice_buffer_free(sim(0), wrapped.queue.get(), buffer);
  const int64_t used = stats(default_pool(sim(0))).used_bytes;

  wrapped.destroy();
  CHECK(is_ready(*written) == 0);
  CHECK(is_ready(*copied) == 0);
  CHECK(stats(default_pool(sim(0))).used_bytes == used);
  gate.event.set();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(stats(default_pool(sim(0))).used_bytes < used);
  CHECK(difference(sample, *written) == "");
  CHECK(difference(sample, *copied) == "");
  check_untouched();
}

TEST_CASE("a stream fails and leaks nothing if its wrapped queue cannot be ordered") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  Wrapped wrapped;
  auto options = stream_options(0, 1);
  options.queue = wrapped.queue.get();
  DeviceStream stream = to_device(stream_of(batches_of(sample, kRows)), sim(0), options);
  CHECK(difference(sample, *next(stream)) == "");
  control::fail_next("event_record");
  wrapped.destroy();
  CHECK(contains(next_fails(EIO, stream), "event_record"));
  stream.reset();
  check_untouched();
  must(arrowdevice_pool_trim, default_pool(sim(0)));
  CHECK(control::counters(0).allocations_live == 0);  // no work was submitted for which no event exists
}

TEST_CASE("finish fails if the work of an unwrapped queue could not be ordered") {
  begin();
  const Wrapped wrapped;
  auto& device = arrowdevice::device::Devices::instance().get(ARROW_DEVICE_EXT_DEV, 0);
  const auto queue = arrowdevice::device::Queue::wrap(device, wrapped.native);
  CHECK(queue->finish(ARROWDEVICE_NO_TIMEOUT));
  control::fail_next("event_record");
  queue->give_native_back();
  CHECK_THROWS_AS(queue->finish(ARROWDEVICE_NO_TIMEOUT), arrowdevice::Error);
}

TEST_CASE("a queue behaves as the library's own after the application takes it back") {
  begin();
  const Wrapped wrapped;
  auto& device = arrowdevice::device::Devices::instance().get(ARROW_DEVICE_EXT_DEV, 0);
  const auto queue = arrowdevice::device::Queue::wrap(device, wrapped.native);
  CHECK(queue->is_wrapped());
  queue->give_native_back();
  CHECK_FALSE(queue->is_wrapped());
  CHECK(queue->finish(ARROWDEVICE_NO_TIMEOUT));
  queue->give_native_back();  // has no effect, because the queue is no longer wrapped
  CHECK(queue->finish(ARROWDEVICE_NO_TIMEOUT));
  CHECK_FALSE(arrowdevice::device::Queue::create(device)->is_wrapped());
}

TEST_CASE("a stream fails without loss if it cannot create or order its next queue") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  for (const char* const function : {"queue_create", "queue_wait_event"}) {
    INFO(function);
    Wrapped wrapped;
    auto options = stream_options(0, 1);
    options.queue = wrapped.queue.get();
    DeviceStream stream = to_device(stream_of(batches_of(sample, kRows)), sim(0), options);
    CHECK(difference(sample, *next(stream)) == "");
    wrapped.destroy();
    const auto queues = control::counters(0).queues_live;
    control::fail_next(function);
    CHECK(contains(next_fails(EIO, stream), function));
    CHECK(control::counters(0).queues_live == queues);
    stream.reset();
    check_untouched();
    must(arrowdevice_pool_trim, default_pool(sim(0)));
    CHECK(control::counters(0).allocations_live == 0);
  }
}

TEST_CASE("a stream keeps a queue of the library that the program has destroyed") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  Queue queue = make_queue(sim(0));
  auto options = stream_options();
  options.queue = queue.get();
  DeviceStream stream = to_device(stream_of(batches_of(sample, kRows)), sim(0), options);
  CHECK(difference(sample, *copy(sample, sim(0))) == "");  // creates the resources that the comparisons need
  const int64_t made = control::counters(0).queues;
  queue.reset();
  CHECK(difference_of_rest(sample, kRows, stream) == "");
  CHECK(control::counters(0).queues == made);
}

}  // namespace
