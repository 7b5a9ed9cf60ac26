// SPDX-License-Identifier: Apache-2.0
#include "allocations/machine.h"

#include <cstdlib>
#include <filesystem>

#include "allocations/memory.h"
#include "stress/program.h"

namespace allocations {
namespace {

namespace control = arrowdevice::sim::control;

arrowdevice_backend inner;
bool first_has_pinned;
const char* plugin_path;

// Wraps each function of the table, for any parameters.
template <auto kFunction>
struct Told;

template <typename Result, typename... Parameters, Result (*arrowdevice_backend::*kFunction)(Parameters...)>
struct Told<kFunction> {
  static Result call(Parameters... parameters) {
    const memory::InBackend here;
    return (inner.*kFunction)(parameters...);
  }
};

template <auto... kFunctions>
void tell(arrowdevice_backend& table) {
  ((table.*kFunctions = Told<kFunctions>::call), ...);
}

int describe(void* device, arrowdevice_device_info* out, arrowdevice_error* error) {
  const int code = Told<&arrowdevice_backend::device_get_info>::call(device, out, error);
  const bool is_first = code == 0 && out->uuid[15] == 0;
  if (is_first && first_has_pinned) out->staging_type = ARROW_DEVICE_CPU;
  return code;
}

arrowdevice_backend make_table() {
  inner = *control::table();
  arrowdevice_backend table = inner;
  using Table = arrowdevice_backend;
  tell<&Table::device_count, &Table::device_open, &Table::buffer_allocate, &Table::buffer_free, &Table::queue_create,
       &Table::queue_destroy, &Table::queue_copy, &Table::event_record, &Table::event_query, &Table::event_wait,
       &Table::queue_wait_event, &Table::event_destroy, &Table::event_publish, &Table::event_import,
       &Table::sub_buffer_create, &Table::sub_buffer_destroy, &Table::queue_wrap, &Table::queue_get_native,
       &Table::device_wrap, &Table::device_unwrap, &Table::device_get_native, &Table::device_get_peer_flags,
       &Table::device_locate, &Table::pointer_get_info, &Table::host_register, &Table::host_unregister,
       &Table::device_get_memory_info>(table);
  table.device_get_info = describe;
  return table;
}

void set_environment(const Machine& machine, const char* plugin) {
  unsetenv("ARROWDEVICE_BACKEND_PATH");
  unsetenv("ARROWDEVICE_SIM_DEVICES");
  setenv("ARROWDEVICE_COPY_THREADS", "3", 1);
  if (!machine.has_plugin) return;
  setenv("ARROWDEVICE_BACKEND_PATH", std::filesystem::path(plugin).parent_path().c_str(), 1);
  setenv("ARROWDEVICE_SIM_DEVICES", "addresses,handles", 1);
}

}  // namespace

const char* plugin_file() { return plugin_path; }

const arrowdevice_backend& backend_table() {
  static const arrowdevice_backend table = make_table();
  return table;
}

void set_up(const Machine& machine, const char* plugin) {
  plugin_path = plugin;
  set_environment(machine, plugin);
  arrowdevice::sim::Configuration configuration;
  configuration.devices.clear();
  for (int64_t id = 0; id < kDevices; ++id) configuration.devices.push_back({.addresses = id < kHandles[0]});
  configuration.peers = machine.peers;
  control::reset(configuration);
  first_has_pinned = machine.has_pinned;
  backend_table();
  if (machine.is_registered) stress::must(arrowdevice_backend_register, &backend_table());
}

std::vector<int64_t> alive_on_devices() {
  std::vector<int64_t> all;
  for (int64_t id = 0; id < kDevices; ++id) {
    const auto counted = control::counters(id);
    for (const int64_t one :
         {counted.allocations_live, counted.sub_buffers_live, counted.events_live, counted.queues_live}) {
      all.push_back(one);
    }
  }
  return all;
}

bool were_devices_opened() { return control::calls("device_open") > 0; }

const char* name_of_alive(size_t place) {
  constexpr const char* kNames[] = {"allocations", "sub-buffers", "events", "queues"};
  return kNames[place % std::size(kNames)];
}

}  // namespace allocations
