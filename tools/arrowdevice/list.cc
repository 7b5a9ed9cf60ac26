// SPDX-License-Identifier: Apache-2.0
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

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

std::string json_uuid(const arrowdevice_device_info& info) {
  if (std::all_of(std::begin(info.uuid), std::end(info.uuid), [](uint8_t byte) { return byte == 0; })) return "null";
  std::string digits;
  for (uint8_t byte : info.uuid) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", byte);
    digits += text;
  }
  return json_string(digits);
}

void print_json_of(const std::vector<arrowdevice_device_info>& devices) {
  const auto boolean = [](bool value) { return value ? "true" : "false"; };
  std::printf("{\"version\": %s, \"devices\": [", json_string(arrowdevice_version()).c_str());
  for (size_t i = 0; i < devices.size(); ++i) {
    const auto& info = devices[i];
    std::printf("%s\n  {\"type\": %s, \"device_type\": %d, \"id\": %lld, \"name\": %s, \"vendor\": %s, ",
                i == 0 ? "" : ",", json_string(type_of(info)).c_str(), info.device_type,
                static_cast<long long>(info.device_id), json_string(info.name).c_str(),
                json_string(info.vendor).c_str());
    std::printf("\"backend\": %s, \"uuid\": %s, \"total_memory\": %s, ", json_string(info.backend).c_str(),
                json_uuid(info).c_str(), info.total_memory < 0 ? "null" : std::to_string(info.total_memory).c_str());
    std::printf("\"buffers\": \"%s\", \"cpu_access\": %s, \"events\": %s, ", buffers_of(info),
                boolean(has(info, ARROWDEVICE_DEVICE_HOST_READABLE)), boolean(has(info, ARROWDEVICE_DEVICE_EVENTS)));
    std::printf("\"buffer_alignment\": %lld, \"sub_buffer_alignment\": %lld}",
                static_cast<long long>(info.buffer_alignment), static_cast<long long>(info.sub_buffer_alignment));
  }
  std::printf("%s]}\n", devices.empty() ? "" : "\n");
}

}  // namespace

int list(const std::vector<std::string>& arguments) {
  bool json = false;
  for (const std::string& argument : arguments) {
    if (argument != "--json") throw UsageError("list: there is no option \"" + argument + "\"");
    json = true;
  }
  std::vector<arrowdevice_device_info> devices;
  for (const cpp::Device& device : cpp::Device::list()) devices.push_back(device.info());
  json ? print_json_of(devices) : print_table_of(devices);
  return kSuccess;
}

}  // namespace arrowdevice::tool
