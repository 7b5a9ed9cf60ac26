// SPDX-License-Identifier: Apache-2.0
#include "spy.h"

#include <arrowdevice/backend.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>

#include "program.h"

namespace stress {

namespace {

arrowdevice_backend inner;
std::atomic<const char*> forbidden{nullptr};
std::atomic<int64_t> calls{0};
std::atomic<int (*)()> before_query{nullptr};

void note_call() {
  if (const char* when = forbidden.load()) fail(std::string("the driver was called ") + when);
  ++calls;
}

// Watches each function of the table, for any parameters.
template <auto kFunction>
struct Watched;

template <typename Result, typename... Parameters, Result (*arrowdevice_backend::*kFunction)(Parameters...)>
struct Watched<kFunction> {
  static Result call(Parameters... parameters) {
    note_call();
    return (inner.*kFunction)(parameters...);
  }
};

template <auto... kFunctions>
void watch(arrowdevice_backend& table) {
  ((table.*kFunctions = Watched<kFunctions>::call), ...);
}

int query_event(void* event, int* ready, arrowdevice_error* error) {
  auto* const function = before_query.load();
  if (const int code = function != nullptr ? function() : 0) return code;
  return Watched<&arrowdevice_backend::event_query>::call(event, ready, error);
}

// Starts the driver with the first call.
int start_and_count(ArrowDeviceType type, int64_t* out, arrowdevice_error* error) {
  [[maybe_unused]] static const bool started = [] {
    check(std::atexit([] { forbid_driver_calls("after it had shut down"); }) == 0, "no room for an exit handler");
    pthread_atfork(nullptr, nullptr, [] { forbid_driver_calls("in a forked child"); });
    return true;
  }();
  return Watched<&arrowdevice_backend::device_count>::call(type, out, error);
}

}  // namespace

void register_spy(arrowdevice::sim::Peers peers) {
  arrowdevice::sim::Configuration configuration;
  configuration.devices = {{.addresses = true}, {.addresses = true}, {.addresses = false}, {.addresses = false}};
  configuration.peers = peers;
  arrowdevice::sim::control::reset(configuration);
  inner = *arrowdevice::sim::control::table();
  arrowdevice_backend table = inner;
  using Table = arrowdevice_backend;
  watch<&Table::device_open, &Table::device_get_info, &Table::buffer_allocate, &Table::buffer_free,
        &Table::queue_create, &Table::queue_destroy, &Table::queue_copy, &Table::event_record, &Table::event_wait,
        &Table::queue_wait_event, &Table::event_destroy, &Table::event_publish, &Table::event_import,
        &Table::sub_buffer_create, &Table::sub_buffer_destroy, &Table::queue_wrap, &Table::queue_get_native,
        &Table::device_wrap, &Table::device_unwrap, &Table::device_get_native, &Table::device_get_peer_flags,
        &Table::device_locate, &Table::pointer_get_info, &Table::device_get_memory_info>(table);
  table.device_count = start_and_count;
  table.event_query = query_event;
  must(arrowdevice_backend_register, &table);
}

void forbid_driver_calls(const char* when) { forbidden.store(when); }

int64_t driver_calls() { return calls.load(); }

void before_each_query(int (*function)()) { before_query.store(function); }

}  // namespace stress
