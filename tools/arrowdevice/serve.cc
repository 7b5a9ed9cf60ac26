// SPDX-License-Identifier: Apache-2.0
// Offers the batches of files to other processes.
#include <arrowdevice/arrowdevice.hpp>

#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "batches.h"
#include "command.h"
#include "ipc/file_reader.h"
#include "sizes.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

constexpr const char* kUsualAddress = "unix:@arrowdevice";
constexpr long kTurnNs = 20'000'000;

std::string name_of_file(const std::string& path) { return std::filesystem::path(path).stem().string(); }

// Encodes a name for an address.
std::string encoded(const std::string& name) {
  constexpr std::string_view kPlain = "-._~";
  std::string text;
  for (const char one : name) {
    const auto byte = static_cast<unsigned char>(one);
    if (std::isalnum(byte) != 0 || kPlain.find(one) != std::string_view::npos) {
      text += one;
      continue;
    }
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", byte);
    text += code;
  }
  return text;
}

// Offers the batches of a file, in shareable memory of the device.
void add_file(cpp::Server& server, const std::string& uri, const std::string& path, const cpp::Pool& pool,
              cpp::Device device) {
  ipc::FileReader file(path);
  const cpp::Schema type = cpp::Schema::copy_of(file.schema());
  auto options = cpp::copy_options(ARROWDEVICE_COPY_ALWAYS);
  options.pool = pool.get();
  std::vector<cpp::DeviceArray> batches;
  Totals totals;
  ArrowArray read{};
  while (file.next(&read)) {
    cpp::DeviceArray batch = cpp::DeviceArray::from_host(cpp::Array(&read));
    try {
      batch.validate(type, ARROWDEVICE_VALIDATE_FULL);
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ": batch " + std::to_string(totals.batches) + ": " + error.what());
    }
    batches.push_back(std::move(batch).to_device(type, device, options));
    totals.add(view_of(batches.back().share(), type).root());
  }
  server.add(name_of_file(path), type, batches);
  std::printf("%s?name=%s: %s\n", printable(uri).c_str(), encoded(name_of_file(path)).c_str(),
              text_of(totals, type->n_children).c_str());
}

// Waits until a signal ends the process, or until the first client has gone.
void wait(const cpp::Server& server, const sigset_t& signals, bool once) {
  if (!once) {
    while (sigwaitinfo(&signals, nullptr) < 0 && errno == EINTR) {
    }
    return;
  }
  const timespec turn{0, kTurnNs};
  bool has_come = false;
  while (sigtimedwait(&signals, nullptr, &turn) < 0) {
    const auto stats = server.stats();
    has_come = has_come || stats.clients > 0 || stats.batches > 0;
    if (has_come && stats.clients == 0) return;
  }
}

int run(const Arguments& arguments) {
  if (arguments.operands().empty()) throw arguments.error("expected a file");
  const auto addresses = arguments.values("--at");
  const std::string uri = addresses.empty() ? kUsualAddress : addresses.back();
  const auto devices = arguments.values("--device");
  // Blocked before the first thread starts, so that only wait() sees them.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, one);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const cpp::Device device = cpp::Device::find_by_name(devices.empty() ? "cpu" : devices.back());
  cpp::Server server = cpp::Server::create(uri);
  const cpp::Pool pool(device, cpp::pool_options(ARROWDEVICE_POOL_SHAREABLE));
  for (const std::string& path : arguments.operands()) add_file(server, uri, path, pool, device);
  std::fflush(stdout);
  wait(server, signals, arguments.has("--once"));
  const auto stats = server.stats();
  std::printf("Sent %s, %s. Copied %s.\n", count_of(stats.batches, "batch", "batches").c_str(),
              rounded_size(stats.bytes).c_str(),
              stats.copied_bytes == 0 ? "nothing" : rounded_size(stats.copied_bytes).c_str());
  return kSuccess;
}

constexpr std::array kOptions{
    Option{"--at", "URI", "address: unix:/PATH, unix:@NAME or fd:NUMBER (default: unix:@arrowdevice)"},
    Option{"--device", "DEVICE", "copies the batches to that device first (default: cpu)"},
    Option{"--once", "", "ends when the first client has gone"},
};

}  // namespace

const Command kServe{
    .name = "serve",
    .summary = "offers files to other processes, which read them without a copy",
    .usage = "[OPTION...] FILE...",
    .about =
        "Reads the record batches of each FILE into memory that other processes can open, and offers them\n"
        "under the name of the file until the command is interrupted. Prints the address of each file, which\n"
        "`arrowdevice fetch` and programs take. A FILE is a stream or a file of Arrow's IPC format, and is not\n"
        "compressed.\n",
    .options = kOptions,
    .exit_code = "0 it was interrupted, or the client has gone; 1 a file or the library failed; 2 wrong usage.",
    .operands = Words::kNone,
    .most_operands = kAnyNumber,
    .run = run,
};

}  // namespace arrowdevice::tool
