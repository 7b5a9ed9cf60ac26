// SPDX-License-Identifier: Apache-2.0
#include "faults/machine.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <shared_mutex>

#include "faults/memory.h"
#include "sim/functions.h"
#include "stress/program.h"

namespace faults {
namespace {

using Table = arrowdevice_backend;

Table inner;
bool first_has_pinned;
const char* plugin_path;
std::shared_mutex resetting;  // threads of streams may still be in calls of the table
std::atomic<int64_t> calls_to_loss{0};
std::atomic<bool> is_lost{false};
int64_t doomed = 0;
std::atomic<bool> given_up{false};
std::atomic<bool> left_out{false};

// Wraps each function of the table, for any parameters.
template <auto kFunction>
struct Told;

template <typename Result, typename... Parameters, Result (*Table::*kFunction)(Parameters...)>
struct Told<kFunction> {
  static Result call(Parameters... parameters) {
    const memory::InBackend here;
    const std::shared_lock lock(resetting);
    if (calls_to_loss > 0 && --calls_to_loss == 0) {
      is_lost = true;
      control::lose(doomed);
    }
    return (inner.*kFunction)(parameters...);
  }
};

int describe(void* device, arrowdevice_device_info* out, arrowdevice_error* error) {
  const int code = Told<&Table::device_get_info>::call(device, out, error);
  const bool is_first = code == 0 && out->uuid[15] == 0;
  if (is_first && first_has_pinned) out->staging_type = ARROW_DEVICE_CPU;
  return code;
}

Table make_table() {
  inner = *control::table();
  Table table = inner;
#define X(name, pair) table.name = Told<&Table::name>::call;
  ARROWDEVICE_SIM_REQUIRED_FUNCTIONS(X)
  ARROWDEVICE_SIM_OPTIONAL_FUNCTIONS(X)
#undef X
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

// Any thread may call this, even without memory.
void note(void*, int, const char* message) {
  if (std::strstr(message, "is not used again") != nullptr) given_up = true;
  if (std::strstr(message, "is left out") != nullptr) left_out = true;
}

}  // namespace

const char* plugin_file() { return plugin_path; }

const Table& backend_table() {
  static const Table table = make_table();
  return table;
}

void reset_devices(const Machine& machine) {
  arrowdevice::sim::Configuration configuration;
  configuration.devices.clear();
  for (int64_t id = 0; id < kDevices; ++id) {
    configuration.devices.push_back({.addresses = id < kHandles[0], .latency_us = machine.latency_us});
  }
  configuration.peers = machine.peers;
  const std::unique_lock lock(resetting);
  control::reset(configuration);
}

void set_up(const Machine& machine, const char* plugin) {
  plugin_path = plugin;
  set_environment(machine, plugin);
  reset_devices(machine);
  first_has_pinned = machine.has_pinned;
  backend_table();
  if (machine.is_registered) stress::must(arrowdevice_backend_register, &backend_table());
  log_to_test();
}

void lose_at_call(int64_t id, int64_t n) {
  doomed = id;
  is_lost = false;
  calls_to_loss = n;
}

bool was_lost() {
  calls_to_loss = 0;
  return is_lost;
}

std::vector<int64_t> alive_on_devices() {
  std::vector<int64_t> all;
  for (int64_t id = 0; id < kDevices; ++id) {
    const auto counted = control::counters(id);
    all.insert(all.end(),
               {counted.allocations_live, counted.sub_buffers_live, counted.events_live, counted.queues_live});
  }
  return all;
}

std::string name_of_alive(size_t place) {
  constexpr const char* kNames[] = {"allocations", "sub-buffers", "events", "queues"};
  return std::string(kNames[place % std::size(kNames)]) + " on device " + std::to_string(place / std::size(kNames));
}

std::string text_of_alive(const std::vector<int64_t>& alive) {
  std::string text;
  for (size_t i = 0; i < alive.size(); ++i) {
    if (alive[i] != 0) text += (text.empty() ? "" : ", ") + std::to_string(alive[i]) + " " + name_of_alive(i);
  }
  return text.empty() ? "nothing" : text;
}

bool were_devices_opened() { return control::calls("device_open") > 0; }

void log_to_test() { arrowdevice_log_set_handler(note, nullptr); }

void forget_log() {
  given_up = false;
  left_out = false;
}

bool has_given_memory_up() { return given_up; }
bool has_left_devices_out() { return left_out; }

}  // namespace faults
