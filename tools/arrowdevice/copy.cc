// SPDX-License-Identifier: Apache-2.0
// Copies the batches of a file to a device and back.
#include <arrowdevice/arrowdevice.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "arguments.h"
#include "batches.h"
#include "command.h"
#include "ipc/file_reader.h"
#include "json.h"
#include "names.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kGiga = 1e9;
constexpr double kMicro = 1e6;
constexpr double kMilli = 1e3;

struct Trip {
  Totals totals;  // of the buffers in a copy, which has only what the rows need
  double seconds_there = 0;
  double seconds_back = 0;
};

template <typename Call>
auto timed(double& seconds, const Call& call) {
  const auto start = Clock::now();
  auto result = call();
  seconds += Seconds(Clock::now() - start).count();
  return result;
}

// Throws std::runtime_error with the path of the first buffer that differs. Both are copies by the library, which have
// equal buffers if they have equal rows.
void compare(const arrowdevice_node& sent, const arrowdevice_node& arrived, const std::string& path) {
  const auto differ = [&](const std::string& what) {
    throw std::runtime_error(path + ": other " + what + " came back");
  };
  if (sent.length != arrived.length || sent.null_count != arrived.null_count || sent.offset != arrived.offset) {
    differ("numbers of rows");
  }
  if (sent.n_buffers != arrived.n_buffers) differ("buffers");
  for (int32_t i = 0; i < sent.n_buffers; ++i) {
    const arrowdevice_node_buffer& one = sent.buffers[i];
    const arrowdevice_node_buffer& other = arrived.buffers[i];
    // A variadic buffer is an address, and so are the pointers in front of it. Its bytes are compared.
    if (one.size != other.size ||
        (one.size > 0 && std::memcmp(one.data, other.data, static_cast<size_t>(one.size)) != 0)) {
      differ("bytes of buffer " + std::to_string(i));
    }
  }
  for (int64_t i = 0; i < sent.n_children; ++i) {
    const std::string name = sent.children[i]->name == nullptr ? "" : sent.children[i]->name;
    compare(*sent.children[i], *arrived.children[i],
            path + "." + (name.empty() ? "[" + std::to_string(i) + "]" : name));
  }
  if (sent.dictionary != nullptr) compare(*sent.dictionary, *arrived.dictionary, path + ".dictionary");
}

// Throws std::runtime_error if a buffer comes back with other bytes.
void copy_batch(cpp::DeviceArray batch, const cpp::Schema& type, cpp::Device there, Trip& trip) {
  const cpp::Device cpu = cpp::Device::find_by_name("cpu");
  const cpp::View sent = view_of(batch.copy(type, cpu), type);
  if (trip.totals.batches == 0) batch.copy(type, there).copy(type, cpu);  // drivers do much at their first copy
  cpp::DeviceArray copied = timed(trip.seconds_there, [&] { return batch.copy(type, there); });
  cpp::DeviceArray back = timed(trip.seconds_back, [&] { return copied.copy(type, cpu); });
  compare(sent.root(), view_of(std::move(back), type).root(), "batch");
  trip.totals.add(sent.root());
}

Trip copy_all(ipc::FileReader& file, const cpp::Schema& type, cpp::Device there, const std::string& path) {
  Trip trip;
  ArrowArray read{};
  while (file.next(&read)) {
    cpp::DeviceArray batch = cpp::DeviceArray::from_host(cpp::Array(&read));
    try {
      batch.validate(type, ARROWDEVICE_VALIDATE_FULL);
      copy_batch(std::move(batch), type, there, trip);
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ": batch " + std::to_string(trip.totals.batches) + ": " + error.what());
    }
  }
  return trip;
}

void print_text_of(const std::string& path, int64_t columns, const std::string& device, const Trip& trip) {
  std::printf("%s: %s\n", printable(path).c_str(), text_of(trip.totals, columns).c_str());
  const auto print_way = [&](const std::string& way, double seconds) {
    std::printf("%-16s %10.2f ms %10.2f GB/s\n", way.c_str(), seconds * kMilli,
                seconds > 0 ? static_cast<double>(trip.totals.bytes) / seconds / kGiga : 0);
  };
  print_way("to " + device, trip.seconds_there);
  print_way("to the host", trip.seconds_back);
  std::printf("All bytes came back.\n");
}

void print_json_of(const std::string& path, int64_t columns, const std::string& device, const Trip& trip) {
  print_json({{"file", json_string(path)},
              {"device", json_string(device)},
              {"rows", json_number(trip.totals.rows)},
              {"batches", json_number(trip.totals.batches)},
              {"columns", json_number(columns)},
              {"bytes", json_number(trip.totals.bytes)},
              {"to_device_us", json_number(trip.seconds_there * kMicro)},
              {"to_host_us", json_number(trip.seconds_back * kMicro)},
              {"verified", json_bool(true)}});
}

int run(const Arguments& arguments) {
  if (arguments.operands().size() != 2) throw arguments.error("expected a file and a device");
  const std::string& path = arguments.operands()[0];
  const cpp::Device there = cpp::Device::find_by_name(arguments.operands()[1]);
  ipc::FileReader file(path);
  const cpp::Schema type = cpp::Schema::copy_of(file.schema());
  const Trip trip = copy_all(file, type, there, path);
  const std::string device = name_of(there.info());
  if (arguments.has("--json")) {
    print_json_of(path, type->n_children, device, trip);
  } else {
    print_text_of(path, type->n_children, device, trip);
  }
  return kSuccess;
}

constexpr std::array kOptions{kJson};

}  // namespace

const Command kCopy{
    .name = "copy",
    .summary = "copies a file of yours to a device and back",
    .usage = "[OPTION...] FILE DEVICE",
    .about =
        "Reads the record batches of FILE, copies each to the device (cuda:1) and back, compares all bytes,\n"
        "and prints the times of the copies. FILE is a stream or a file of Arrow's IPC format, and is not\n"
        "compressed.\n",
    .options = kOptions,
    .exit_code = "0 all bytes came back; 1 some did not, or the file or the library failed; 2 wrong usage.",
    .operands = Words::kFileAndDevice,
    .most_operands = 2,
    .run = run,
};

}  // namespace arrowdevice::tool
