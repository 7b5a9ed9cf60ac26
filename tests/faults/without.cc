// SPDX-License-Identifier: Apache-2.0
// Tests devices whose backend lacks an optional function. The library either works without it or fails with
// ENOTSUP. ARROWDEVICE_SIM_WITHOUT names the function, because a table is registered once in a process.
// Tests with the tag of a function need that function to be missing. Tests with the tag [without] run for
// every function.
#include <algorithm>
#include <array>

#include "sim/configuration.h"
#include "unit/library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::sim::Configuration;
using arrowdevice::sim::DeviceSettings;
using arrowdevice::sim::Function;

const std::vector<Function>& missing() {
  static const auto functions = Configuration::from_environment().without;
  return functions;
}

bool is_missing(Function function) { return std::ranges::find(missing(), function) != missing().end(); }

// Returns the number of devices: two with addresses, and two with handles if these work without the
// function.
int64_t devices() { return is_missing(Function::sub_buffer_create) ? kHandles[0] : kSims; }

// Sets up the devices. With latency a device finishes work only when the library waits for it.
void begin_without(int64_t latency_us = 0, Peers peers = Peers::kCopy) {
  REQUIRE_FALSE(missing().empty());
  auto configured = configuration(peers);
  configured.without = missing();
  for (auto& device : configured.devices) device.latency_us = latency_us;
  control::reset(configured);
  static const bool registered = arrowdevice_backend_register(control::table(), nullptr) == 0;
  REQUIRE(registered);
}

void check_nothing_refused() {
  for (const auto& refusal : control::refusals()) FAIL_CHECK("refused by the device: " << refusal);
}

template <typename Work>
void on_each_pair(Work work) {
  for (int64_t from = 0; from < devices(); ++from) {
    for (int64_t to = 0; to < devices(); ++to) {
      INFO("from device " << from << " to " << to);
      work(sim(from), sim(to));
    }
  }
}

Knobs sliced() {
  Knobs knobs;
  knobs.offset = 5;
  knobs.child_offset = 3;
  return knobs;
}

TEST_CASE("without an optional function, arrays go to devices, between them and back", "[without]") {
  begin_without();
  const Sample nested(mixed_batch(), sliced());
  const Sample flat(field("l"), sliced());
  for (const Sample* sample : {&nested, &flat}) {
    for (const uint32_t flags : {uint32_t{0}, uint32_t{ARROWDEVICE_COPY_NO_TRIM}}) {
      on_each_pair([&](auto* from, auto* to) {
        const Array there = copy(*sample, from, flags);
        CHECK(there->sync_event == nullptr);
        CHECK(difference(*sample, *there) == "");
        const Array elsewhere = copy(*there, *sample->schema, to, flags);
        CHECK(elsewhere->sync_event == nullptr);
        CHECK(difference(*sample, *elsewhere) == "");
      });
    }
  }
  check_nothing_refused();
}

TEST_CASE("without an optional function, arrays are moved, sliced, shared and released", "[without]") {
  begin_without();
  on_each_pair([&](auto* from, auto* to) {
    const Sample sample(mixed_batch(), sliced());
    Array there = copy(sample, from);
    Array part = slice(*there, *sample.schema, 3, 11);
    there.reset();
    Array moved;
    must(arrowdevice_array_to_device, part.get(), sample.schema.get(), to, nullptr, moved.out());
    CHECK(difference(sample, *moved, 3) == "");
    Array other;
    must(arrowdevice_array_share, moved.get(), other.out());
    const Queue queue = make_queue(to);
    must(arrowdevice_array_release_after, moved.get(), queue.get());
    Owned<ArrowArray> host;
    must(arrowdevice_array_to_host, other.get(), sample.schema.get(), nullptr, host.out());
    CHECK(host->length == 11);
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  });
  check_nothing_refused();
}

TEST_CASE("without an optional function, sizes on the device are learned", "[without]") {
  begin_without();
  for (int64_t id = 0; id < devices(); ++id) {
    const Sample sample(field("u"), sliced());
    Array there = copy(sample, sim(id));
    auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
    arrowdevice_view* view = nullptr;
    must(arrowdevice_array_import, there.get(), sample.schema.get(), &options, &view);
    const View owner(view);
    CHECK((arrowdevice_view_get_root(view)->buffers[2].flags & ARROWDEVICE_BUFFER_SIZE_KNOWN) != 0);
    CHECK(difference(sample, *arrowdevice_view_get_array(view)) == "");
  }
  check_nothing_refused();
}

TEST_CASE("without an optional function, asynchronous copies are complete or have an event", "[without]") {
  begin_without(2'000);
  for (int64_t id = 0; id < devices(); ++id) {
    const Sample sample(field("l"));
    const Array there = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
    const bool publishes = (describe(sim(id)).flags & ARROWDEVICE_DEVICE_EVENTS) != 0;
    CHECK((there->sync_event != nullptr) == publishes);
    // Events are published only if the consumer can wait for them.
    CHECK(publishes == (!is_missing(Function::event_publish) && !is_missing(Function::event_import)));
    must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    std::vector<int64_t> came(37);
    control::peek(id, there->array.buffers[1], 0, came.data(), static_cast<int64_t>(came.size() * sizeof came[0]));
    const auto* sent = static_cast<const int64_t*>(sample.twin->buffers[1]);
    CHECK(std::equal(came.begin(), came.end(), sent));
  }
  check_nothing_refused();
}

// -- tests of single functions

TEST_CASE("without event_publish, what is handed over is complete and carries no event", "[event_publish]") {
  begin_without(2'000);
  for (int64_t id = 0; id < devices(); ++id) {
    const Queue queue = make_queue(sim(id));
    void* buffer = nullptr;
    must(arrowdevice_buffer_allocate, sim(id), nullptr, nullptr, 64, &buffer);
    const std::vector<int64_t> sent{1, 2, 3, 4, 5, 6, 7, 8};
    const arrowdevice_copy_region region{sim(id), buffer, 0, nullptr, sent.data(), 0, 64, 0};
    must(arrowdevice_queue_copy, queue.get(), &region, 1);
    const void* buffers[] = {nullptr, buffer};
    ArrowArray array{};
    array.length = 8;
    array.n_buffers = 2;
    array.buffers = buffers;
    array.release = [](ArrowArray* released) { released->release = nullptr; };
    Array out;
    must(arrowdevice_array_export, sim(id), &array, queue.get(), out.out());
    CHECK(out->sync_event == nullptr);
    std::vector<int64_t> came(8);
    control::peek(id, buffer, 0, came.data(), 64);
    CHECK(came == sent);
    out.reset();
    arrowdevice_buffer_free(sim(id), nullptr, buffer);
  }
}

// The target device has no events to attach.
TEST_CASE("without event_publish, arrays shared between devices are complete on return", "[event_publish]") {
  begin_without(0, Peers::kAccess);
  const Sample sample(field("l"));
  Array there = copy(sample, sim(0));
  control::UserEvent event;
  there->sync_event = event.sync_event();
  auto options = copy_options();
  options.timeout_ns = 1;
  Array out;
  refused(ETIMEDOUT, arrowdevice_array_to_device, there.get(), sample.schema.get(), sim(1), &options, out.out());
  CHECK_FALSE(there.released());
  event.set();
  must(arrowdevice_array_to_device, there.get(), sample.schema.get(), sim(1), nullptr, out.out());
  CHECK(out->sync_event == nullptr);
  CHECK(out->device_id == 1);
  CHECK(difference(sample, *out) == "");
}

TEST_CASE("without event_import, an array that carries an event is refused and kept", "[event_import]") {
  begin_without();
  for (int64_t id = 0; id < devices(); ++id) {
    const Sample sample(field("l"));
    Array there = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
    CHECK(there->sync_event == nullptr);
    int foreign = 0;
    there->sync_event = &foreign;
    Array out;
    arrowdevice_view* view = nullptr;
    int ready = -1;
    const Queue queue = make_queue(sim(id));
    for (const std::string& message :
         {refused(ENOTSUP, arrowdevice_array_copy, there.get(), sample.schema.get(), cpu(), nullptr, out.get()),
          refused(ENOTSUP, arrowdevice_array_to_device, there.get(), sample.schema.get(), cpu(), nullptr, out.get()),
          refused(ENOTSUP, arrowdevice_array_import, there.get(), sample.schema.get(), nullptr, &view),
          refused(ENOTSUP, arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT),
          refused(ENOTSUP, arrowdevice_queue_wait_array, queue.get(), there.get(), nullptr),
          refused(ENOTSUP, arrowdevice_array_is_ready, there.get(), nullptr, &ready)}) {
      CHECK(contains(message, "event_import"));
    }
    CHECK(out.released());
    CHECK(view == nullptr);
    CHECK_FALSE(there.released());
    // On its own device no call has to query the event.
    void* const event = there->sync_event;
    must(arrowdevice_array_to_device, there.get(), sample.schema.get(), sim(id), nullptr, out.out());
    CHECK(out->sync_event == event);
  }
}

TEST_CASE("without sub_buffer_create, addresses still work and handles are refused", "[sub_buffer_create]") {
  begin_without();
  void* buffer = nullptr;
  void* part = nullptr;
  must(arrowdevice_buffer_allocate, sim(0), nullptr, nullptr, 4096, &buffer);
  must(arrowdevice_sub_buffer_create, sim(0), buffer, 100, 50, &part);
  CHECK(part == static_cast<char*>(buffer) + 100);
  arrowdevice_sub_buffer_destroy(sim(0), part);
  arrowdevice_buffer_free(sim(0), nullptr, buffer);
  arrowdevice_device* device = nullptr;
  const auto message = refused(EINVAL, arrowdevice_device_find_by_id, ARROW_DEVICE_EXT_DEV, kHandles[0], &device);
  CHECK(contains(message, "sub_buffer_create"));
  CHECK(device == nullptr);
}

TEST_CASE("without reach, data between devices goes by way of the host", "[reach]") {
  begin_without();
  uint32_t out = 77;
  must(arrowdevice_device_get_peer_flags, sim(0), sim(1), &out);
  CHECK(out == 0);
  must(arrowdevice_device_get_peer_flags, sim(0), cpu(), &out);
  CHECK(out == ARROWDEVICE_PEER_COPY);
  must(arrowdevice_device_get_peer_flags, sim(0), sim(0), &out);
  CHECK(out == (ARROWDEVICE_PEER_COPY | ARROWDEVICE_PEER_ACCESS));
  const Sample sample(field("l"));
  const Array there = copy(sample, sim(0));
  const auto before = counters(sim(1)).staged_bytes;
  const Array elsewhere = copy(*there, *sample.schema, sim(1));
  CHECK(counters(sim(1)).staged_bytes > before);
  CHECK(control::counters(1).bytes_peer == 0);
  CHECK(difference(sample, *elsewhere) == "");
}

TEST_CASE("without locate, an array is on the device that it names", "[locate]") {
  begin_without();
  const Sample sample(field("l"));
  Array there = copy(sample, sim(1));
  arrowdevice_device* device = nullptr;
  must(arrowdevice_array_get_device, there.get(), &device);
  CHECK(device == sim(1));
}

TEST_CASE("without pointer_get_info, sizes of variadic buffers lie in host memory", "[pointer_get_info]") {
  begin_without();
  const Sample sample(field("vu"), sliced());
  const Array there = copy(sample, sim(0));
  CHECK(difference(sample, *there) == "");
  const auto& array = there->array;
  REQUIRE(array.n_buffers > 3);
  CHECK(static_cast<const int64_t*>(array.buffers[array.n_buffers - 1])[0] >= 0);  // read by the CPU
}

TEST_CASE("without queue_wrap, queues of the application are not supported", "[queue_wrap]") {
  begin_without();
  const Queue queue = make_queue(sim(0));
  arrowdevice_native_queue native{};
  native.struct_size = sizeof native;
  CHECK(contains(refused(ENOTSUP, arrowdevice_queue_get_native, queue.get(), &native), "queue_get_native"));
  auto* wrapped = reinterpret_cast<arrowdevice_queue*>(&native);
  CHECK(contains(refused(ENOTSUP, arrowdevice_queue_wrap, sim(0), &native, &wrapped), "queue_wrap"));
  CHECK(wrapped == nullptr);
}

TEST_CASE("without queue_wrap, the application's allocator is given no queue", "[queue_wrap]") {
  begin_without();
  static const void* given;
  static int64_t given_back;
  given = &given;
  given_back = 0;
  auto options = pool_options();
  options.max_cached_bytes = -1;
  options.allocate = [](void* user, int64_t size, int64_t alignment, void* queue, void** out) {
    given = queue;
    arrowdevice_error error{};
    return control::table()->buffer_allocate(user, nullptr, size, alignment, out, &error);
  };
  options.deallocate = [](void* user, void* buffer, int64_t, void*) {
    ++given_back;
    control::table()->buffer_free(user, nullptr, buffer);
  };
  arrowdevice_error error{};
  REQUIRE(control::table()->device_open(ARROW_DEVICE_EXT_DEV, 0, &options.user, &error) == 0);
  const Pool pool = make_pool(sim(0), &options);
  const Queue queue = make_queue(sim(0));
  void* buffer = nullptr;
  must(arrowdevice_buffer_allocate, sim(0), pool.get(), queue.get(), 64, &buffer);
  CHECK(given == nullptr);
  arrowdevice_buffer_free(sim(0), nullptr, buffer);
  CHECK(given_back == 1);
}

TEST_CASE("without device_wrap, contexts of the application are not supported", "[device_wrap]") {
  begin_without();
  arrowdevice_native_device native{};
  native.struct_size = sizeof native;
  native.context = &native;
  auto* device = reinterpret_cast<arrowdevice_device*>(&native);
  CHECK(contains(refused(ENOTSUP, arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 0, &native, &device), "device_wrap"));
  CHECK(device == nullptr);
  CHECK(contains(refused(ENOTSUP, arrowdevice_device_unwrap, sim(0), ARROWDEVICE_POLL), "device_unwrap"));
}

TEST_CASE("without device_get_native, a device has no handles to give", "[device_get_native]") {
  begin_without();
  arrowdevice_native_device native{};
  native.struct_size = sizeof native;
  CHECK(contains(refused(ENOTSUP, arrowdevice_device_get_native, sim(0), &native), "device_get_native"));
}

TEST_CASE("without device_get_memory_info, memory info is what device_open reported", "[device_get_memory_info]") {
  begin_without();
  int64_t free_bytes = 77;
  int64_t in_all = 77;
  must(arrowdevice_device_get_memory_info, sim(0), &free_bytes, &in_all);
  CHECK(free_bytes == -1);
  CHECK(in_all == describe(sim(0)).total_memory);
  const Sample sample(field("l"));
  copy(sample, sim(0));
  CHECK(stats(default_pool(sim(0))).cached_bytes > 0);  // the limit applies in this case too
}

TEST_CASE("without shareable_allocate, arrays do not go to other processes", "[shareable_allocate]") {
  begin_without();
  auto options = pool_options();
  options.flags = ARROWDEVICE_POOL_SHAREABLE;
  arrowdevice_pool* pool = nullptr;
  CHECK(contains(refused(ENOTSUP, arrowdevice_pool_create, sim(0), &options, &pool), "other processes"));
  const Sample sample(field("l"));
  Array array = copy(sample, sim(0));
  arrowdevice_ipc_handle handle{};
  const arrowdevice_copy_options* const defaults = nullptr;
  CHECK(
      contains(refused(ENOTSUP, arrowdevice_array_get_ipc_handle, array.get(), sample.schema.get(), defaults, &handle),
               "other processes"));
  CHECK(handle.release == nullptr);
  CHECK(difference(sample, *array) == "");
}

}  // namespace
