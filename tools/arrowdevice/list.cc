// SPDX-License-Identifier: Apache-2.0
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "command.h"
#include "json.h"
#include "names.h"
#include "sizes.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

struct Listed {
  cpp::Device device;
  arrowdevice_device_info info;
};

struct Name {
  uint64_t flag;
  const char* name;
};
constexpr std::array kDeviceFlags{Name{ARROWDEVICE_DEVICE_ADDRESSES, "addresses"},
                                  Name{ARROWDEVICE_DEVICE_HOST_READABLE, "host_readable"},
                                  Name{ARROWDEVICE_DEVICE_EVENTS, "events"},
                                  Name{ARROWDEVICE_DEVICE_WAIT_BLOCKS, "wait_blocks"},
                                  Name{ARROWDEVICE_DEVICE_WRAPPED, "wrapped"},
                                  Name{ARROWDEVICE_DEVICE_COPY_BLOCKS, "copy_blocks"},
                                  Name{ARROWDEVICE_DEVICE_STREAM_ORDERED, "stream_ordered"},
                                  Name{ARROWDEVICE_DEVICE_SHAREABLE, "shareable"}};
constexpr std::array kPeerFlags{Name{ARROWDEVICE_PEER_ACCESS, "access"}, Name{ARROWDEVICE_PEER_REMOTE, "remote"},
                                Name{ARROWDEVICE_PEER_COPY, "copy"}};

template <size_t size>
std::vector<std::string> names_of(uint64_t flags, const std::array<Name, size>& names) {
  std::vector<std::string> found;
  for (const auto& [flag, name] : names) {
    if ((flags & flag) != 0) found.emplace_back(name);
  }
  return found;
}

bool has(const arrowdevice_device_info& info, uint64_t flag) { return (info.flags & flag) != 0; }

const char* buffers_of(const arrowdevice_device_info& info) {
  return has(info, ARROWDEVICE_DEVICE_ADDRESSES) ? "addresses" : "handles";
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

// Returns the device type of pinned host memory, or an empty string.
std::string staging_of(const arrowdevice_device_info& info) {
  if (info.staging_type == 0) return "";
  const char* const name = arrowdevice_device_type_get_name(info.staging_type);
  return name != nullptr ? name : std::to_string(info.staging_type);
}

std::string joined(const std::vector<std::string>& words, const char* otherwise) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? otherwise : text;
}

// -- text

void print_table_of(const std::vector<Listed>& devices) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& [device, info] : devices) {
    rows.push_back({type_of(info), std::to_string(info.device_id), printable(info.name),
                    rounded_size(info.total_memory), printable(info.backend), buffers_of(info),
                    has(info, ARROWDEVICE_DEVICE_HOST_READABLE) ? "yes" : "no"});
  }
  print_table({"TYPE", "ID", "NAME", "MEMORY", "BACKEND", "BUFFERS", "CPU ACCESS"}, rows, 2);
}

// Returns the free memory, or the failure of the driver.
std::string free_memory_of(const cpp::Device& device) {
  try {
    const int64_t free = device.memory_info().free_bytes;
    return free < 0 ? "free memory unknown" : rounded_size(free) + " free";
  } catch (const cpp::Exception& error) {
    return std::string("free memory unknown: ") + error.what();
  }
}

void print_details(const Listed& listed) {
  const auto& info = listed.info;
  const std::string uuid = uuid_of(info);
  const std::string staging = staging_of(info);
  const std::pair<const char*, std::string> lines[] = {
      {"vendor", info.vendor[0] == '\0' ? "unknown" : info.vendor},
      {"backend", info.backend},
      {"uuid", uuid.empty() ? "unknown" : uuid},
      {"memory", rounded_size(info.total_memory) + ", " + free_memory_of(listed.device)},
      {"alignment",
       "buffers " + exact_size(info.buffer_alignment) + ", sub-buffers " + exact_size(info.sub_buffer_alignment)},
      {"flags", joined(names_of(info.flags, kDeviceFlags), "none")},
      {"pinned memory", staging.empty() ? "no device type" : staging},
      {"NUMA node", info.numa_node < 0 ? "unknown" : std::to_string(info.numa_node)},
  };
  constexpr size_t kIndent = 17;
  std::printf("%s\n", styled(name_of(info) + "  " + printable(info.name), Style::kHeading).c_str());
  for (const auto& [title, text] : lines) print_entry(std::string("  ") + title, printable(text), kIndent);
  std::printf("\n");
}

// Returns how the device `to` uses memory of the device `from`.
std::string path_text(const Listed& from, const Listed& to) {
  return joined(names_of(from.device.peer_flags(to.device), kPeerFlags), "staged");
}

void print_verbose(const std::vector<Listed>& devices) {
  for (const Listed& listed : devices) print_details(listed);
  std::vector<std::string> names;
  for (const Listed& listed : devices) names.push_back(name_of(listed.info));
  print_paragraph(
      "How each column's device uses memory of each row's: it has access in place (remote: over a bus at "
      "each use), it can copy directly, or copies are staged in host memory.",
      0);
  std::printf("\n");
  print_matrix("PEERS", names, [&](size_t from, size_t to) { return Cell(path_text(devices[from], devices[to])); });
}

// -- JSON

std::string json_names(const std::vector<std::string>& names) {
  std::vector<std::string> elements;
  for (const std::string& name : names) elements.push_back(json_string(name));
  return json_list(elements);
}

std::string json_or_null(int64_t number) { return number < 0 ? kJsonNull : json_number(number); }

// Returns the free memory in bytes. Returns null if the driver does not know it or fails.
std::string json_free_memory(const cpp::Device& device) {
  try {
    return json_or_null(device.memory_info().free_bytes);
  } catch (const cpp::Exception&) {
    return kJsonNull;
  }
}

JsonFields json_of(const arrowdevice_device_info& info) {
  return {{"type", json_string(type_of(info))},
          {"device_type", json_number(info.device_type)},
          {"id", json_number(info.device_id)},
          {"name", json_string(info.name)},
          {"vendor", json_string(info.vendor)},
          {"backend", json_string(info.backend)},
          {"uuid", json_string_or_null(uuid_of(info))},
          {"total_memory", json_or_null(info.total_memory)},
          {"buffers", json_string(buffers_of(info))},
          {"cpu_access", json_bool(has(info, ARROWDEVICE_DEVICE_HOST_READABLE))},
          {"events", json_bool(has(info, ARROWDEVICE_DEVICE_EVENTS))},
          {"buffer_alignment", json_number(info.buffer_alignment)},
          {"sub_buffer_alignment", json_number(info.sub_buffer_alignment)},
          {"flags", json_names(names_of(info.flags, kDeviceFlags))},
          {"pinned_memory", json_string_or_null(staging_of(info))},
          {"numa_node", json_or_null(info.numa_node)}};
}

void print_json_of(const std::vector<Listed>& devices, bool is_verbose) {
  std::vector<std::string> elements;
  std::vector<std::string> peers;
  for (const Listed& from : devices) {
    JsonFields fields = json_of(from.info);
    if (is_verbose) fields.emplace_back("free_memory", json_free_memory(from.device));
    elements.push_back(json_object(fields));
    for (const Listed& to : devices) {
      if (!is_verbose) break;
      peers.push_back(json_object({{"from", json_string(name_of(from.info))},
                                   {"to", json_string(name_of(to.info))},
                                   {"flags", json_names(names_of(from.device.peer_flags(to.device), kPeerFlags))}}));
    }
  }
  JsonFields all{{"devices", json_lines(elements)}};
  if (is_verbose) all.emplace_back("peers", json_lines(peers));
  print_json(all);
}

// -- command

int run(const Arguments& arguments) {
  const bool is_verbose = arguments.has("--verbose");
  std::vector<Listed> devices;
  for (const cpp::Device& device : cpp::Device::list()) devices.push_back({device, device.info()});
  if (arguments.has("--json")) {
    print_json_of(devices, is_verbose);
  } else {
    is_verbose ? print_verbose(devices) : print_table_of(devices);
  }
  return kSuccess;
}

constexpr std::array kOptions{
    kJson,
    Option{"--verbose", "",
           "prints all properties, the free memory and peer access; drivers may create\n"
           "their context to tell the free memory, which takes time and memory of a GPU",
           'v'},
};

}  // namespace

const Command kList{
    .name = "list",
    .summary = "lists the devices of this machine",
    .usage = "[--json] [-v]",
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
