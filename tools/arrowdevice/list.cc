// SPDX-License-Identifier: Apache-2.0
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "arguments.h"
#include "command.h"
#include "json.h"
#include "names.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

std::string readable_bytes(int64_t bytes) {
  if (bytes < 0) return "unknown";
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

const char* buffers_of(const arrowdevice_device_info& info) {
  return (info.flags & ARROWDEVICE_DEVICE_ADDRESSES) != 0 ? "addresses" : "handles";
}

bool has(const arrowdevice_device_info& info, uint64_t flag) { return (info.flags & flag) != 0; }

void print_table_of(const std::vector<arrowdevice_device_info>& devices) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& info : devices) {
    rows.push_back({type_of(info), std::to_string(info.device_id), printable(info.name),
                    readable_bytes(info.total_memory), printable(info.backend), buffers_of(info),
                    has(info, ARROWDEVICE_DEVICE_HOST_READABLE) ? "yes" : "no"});
  }
  print_table({"TYPE", "ID", "NAME", "MEMORY", "BACKEND", "BUFFERS", "CPU ACCESS"}, rows, 2);
}

std::string uuid_of(const arrowdevice_device_info& info) {
  if (std::all_of(std::begin(info.uuid), std::end(info.uuid), [](uint8_t byte) { return byte == 0; })) return "";
  std::string digits;
  for (uint8_t byte : info.uuid) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", byte);
    digits += text;
  }
  return digits;
}

std::string json_of(const arrowdevice_device_info& info) {
  return json_object({{"type", json_string(type_of(info))},
                      {"device_type", json_number(info.device_type)},
                      {"id", json_number(info.device_id)},
                      {"name", json_string(info.name)},
                      {"vendor", json_string(info.vendor)},
                      {"backend", json_string(info.backend)},
                      {"uuid", json_string_or_null(uuid_of(info))},
                      {"total_memory", info.total_memory < 0 ? kJsonNull : json_number(info.total_memory)},
                      {"buffers", json_string(buffers_of(info))},
                      {"cpu_access", json_bool(has(info, ARROWDEVICE_DEVICE_HOST_READABLE))},
                      {"events", json_bool(has(info, ARROWDEVICE_DEVICE_EVENTS))},
                      {"buffer_alignment", json_number(info.buffer_alignment)},
                      {"sub_buffer_alignment", json_number(info.sub_buffer_alignment)}});
}

void print_json_of(const std::vector<arrowdevice_device_info>& devices) {
  std::vector<std::string> elements;
  for (const auto& info : devices) elements.push_back(json_of(info));
  print_json({{"devices", json_lines(elements)}});
}

constexpr std::array kOptions{kJson};

int run(const Arguments& arguments) {
  std::vector<arrowdevice_device_info> devices;
  for (const cpp::Device& device : cpp::Device::list()) devices.push_back(device.info());
  arguments.has("--json") ? print_json_of(devices) : print_table_of(devices);
  return kSuccess;
}

}  // namespace

const Command kList{
    .name = "list",
    .summary = "lists the devices of this machine",
    .usage = "[--json]",
    .about =
        "Lists the devices of every backend that loads: type, id, name, memory, backend, whether their\n"
        "buffers are addresses or handles, and whether the CPU reads and writes their memory in place.\n"
        "Programs name a device by TYPE:ID, such as cuda:1.\n",
    .options = kOptions,
    .exit_code = "0 listed; 1 the library failed; 2 wrong usage.",
    .operands = Words::kNone,
    .most_operands = 0,
    .run = run,
};

}  // namespace arrowdevice::tool
