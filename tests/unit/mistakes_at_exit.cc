// SPDX-License-Identifier: Apache-2.0
// Tests mistake 14: after the driver has shut down, an event is destroyed, memory is freed or a queue is
// destroyed. This is a separate program, because it releases all objects in the last exit handler. No
// function of the driver may be called at that time. A server does not call the program either.
#include <arrowdevice/arrowdevice.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "sim/control.h"
#include "support/cases.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of this test is written with
namespace control = arrowdevice::sim::control;

ArrowDeviceArray pending, complete, on_cpu, later;
arrowdevice_queue* queue;
arrowdevice_pool* pool;
arrowdevice_device* device;
void* buffer;
Ledger* ledger;
ArrowDeviceArrayStream client;
std::atomic<int> server_releases{0};  // of the stream that the server has

int64_t driver_calls() {
  int64_t all = 0;
  for (const char* function :
       {"device_count",      "device_open",        "device_get_info", "buffer_allocate",  "buffer_free",
        "queue_create",      "queue_destroy",      "queue_copy",      "event_record",     "event_query",
        "event_wait",        "queue_wait_event",   "event_destroy",   "event_publish",    "event_import",
        "sub_buffer_create", "sub_buffer_destroy", "device_locate",   "pointer_get_info", "device_get_memory_info"}) {
    all += control::calls(function);
  }
  return all;
}

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "mistake 14: %s\n", what);
  _exit(1);
}

// Registered before the first use of the library, so that it runs after all handlers of the library.
void last_of_all() {
  const int64_t before = driver_calls();
  check(server_releases == 0, "the server's stream was released although a client has it");
  client.release(&client);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the server's threads end
  check(server_releases == 0, "the server's stream was released after exit had begun");
  arrowdevice_array_release(&pending);
  arrowdevice_array_release(&complete);
  arrowdevice_array_release(&on_cpu);
  arrowdevice_buffer_free(device, nullptr, buffer);
  arrowdevice_queue_destroy(queue);
  arrowdevice_pool_destroy(pool);
  check(ledger->live() == ledger->made() / 2, "an array on the CPU was not released");
  check(pending.array.release == nullptr && complete.array.release == nullptr, "an array was not marked released");
  arrowdevice_queue* made = nullptr;
  check(arrowdevice_queue_create(device, &made, nullptr) == ENODEV, "a queue was made after exit had begun");
  check(arrowdevice_wait_idle(ARROWDEVICE_POLL, nullptr) == 0 ||
            arrowdevice_wait_idle(ARROWDEVICE_POLL, nullptr) == ETIMEDOUT,
        "quiescing failed");
  check(driver_calls() == before, "the driver was called after exit had begun");
  _exit(0);  // work that still waits for the driver is never released
}

void must(int code) { check(code == 0, "a call before exit failed"); }

// A stream that gives the same array for ever.
ArrowDeviceArrayStream endless() {
  ArrowDeviceArrayStream stream{};
  stream.device_type = ARROW_DEVICE_CPU;
  stream.get_schema = [](ArrowDeviceArrayStream*, ArrowSchema* out) {
    *out = make_schema(struct_of({field("l"), field("u")}).not_null()).take();
    return 0;
  };
  stream.get_next = [](ArrowDeviceArrayStream*, ArrowDeviceArray* out) {
    return arrowdevice_array_share(&on_cpu, out, nullptr);
  };
  stream.get_last_error = [](ArrowDeviceArrayStream*) -> const char* { return nullptr; };
  stream.release = [](ArrowDeviceArrayStream* self) {
    ++server_releases;
    self->release = nullptr;
  };
  return stream;
}

// Connects a client, and waits until the server has sent as much as the client has room for.
void connect_client() {
  constexpr int32_t kRoom = 4;
  const std::string uri = "unix:@arrowdevice-at-exit-" + std::to_string(getpid());
  arrowdevice_server* server = nullptr;
  must(arrowdevice_server_create(uri.c_str(), nullptr, &server, nullptr));
  ArrowDeviceArrayStream stream = endless();
  must(arrowdevice_server_add_stream(server, "rows", &stream, nullptr));
  arrowdevice_connect_options options{};
  options.struct_size = sizeof options;
  options.max_batches = kRoom;
  must(arrowdevice_stream_connect(uri.c_str(), nullptr, &options, &client, nullptr));
  struct arrowdevice_server_stats stats {};
  stats.struct_size = sizeof stats;
  while (stats.batches < kRoom) {
    std::this_thread::yield();
    must(arrowdevice_server_get_stats(server, &stats, nullptr));
  }
}

}  // namespace

int main() {
  check(std::atexit(last_of_all) == 0, "no room for an exit handler");
  ledger = new Ledger;
  control::reset();
  must(arrowdevice_backend_register(control::table(), nullptr));
  must(arrowdevice_device_find_by_id(ARROW_DEVICE_EXT_DEV, 0, &device, nullptr));
  const Field type = struct_of({field("l"), field("u")}).not_null();
  const auto schema = make_schema(type);
  const auto make = [&](ArrowDeviceArray* out) {
    auto array = make_array(generate(type, {}), *ledger);
    must(arrowdevice_array_from_host(array.get(), out, nullptr));
  };
  make(&on_cpu);
  make(&later);
  connect_client();
  must(arrowdevice_array_copy(&on_cpu, schema.get(), device, nullptr, &complete, nullptr));
  must(arrowdevice_queue_create(device, &queue, nullptr));
  must(arrowdevice_pool_create(device, nullptr, &pool, nullptr));
  must(arrowdevice_buffer_allocate(device, pool, nullptr, 100, &buffer, nullptr));
  control::hold(0);
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = ARROWDEVICE_COPY_ASYNC;
  must(arrowdevice_array_copy(&on_cpu, schema.get(), device, &options, &pending, nullptr));
  must(arrowdevice_array_release_after(&later, queue, nullptr));
  return 0;
}
