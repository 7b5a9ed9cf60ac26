// SPDX-License-Identifier: Apache-2.0
// Tests that a process reads another's arrays of every layout without a copy, on each device whose memory
// other processes can open.
//
//   ARROWDEVICE_TEST_DEVICES  the devices, as for the conformance cases
//   ARROWDEVICE_TEST_CASES    "few": one array of each layout
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "support/calls.h"
#include "support/cases.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/in_child.h"
#include "support/reader.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of this test is written with

constexpr char kSent = '1';     // the server has a stream with the number of the case
constexpr char kLeftOut = '0';  // Arrow's IPC format cannot express the type

arrowdevice_device* find(const std::string& name) { return output_of(arrowdevice_device_find_by_name, name.c_str()); }

// Adds the array of a case to a server. Returns false if it cannot be sent.
bool add(arrowdevice_server* server, const HostCase& one, const std::string& name, arrowdevice_device* device,
         arrowdevice_pool* pool) {
  const auto schema = one.schema();
  Owned<ArrowArray> array = one.array(Ledger());
  Owned<ArrowDeviceArray> host;
  must(arrowdevice_array_from_host, array.get(), host.out());
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ALWAYS;
  options.pool = pool;
  Owned<ArrowDeviceArray> there;
  must(arrowdevice_array_copy, host.get(), schema.get(), device, &options, there.out());
  arrowdevice_error error{};
  const int code = arrowdevice_server_add_arrays(server, name.c_str(), schema.get(), there.get(), 1, &error);
  if (code == ENOTSUP && contains(error.message, "dictionary")) return false;
  if (code != 0) throw std::runtime_error(one.name + ": " + error.message);
  return true;
}

// Offers all arrays until the client closes its end of `wait`.
void serve(const std::string& uri, const std::string& name, int ready, int wait) {
  arrowdevice_device* const device = find(name);
  {
    auto options = sized<arrowdevice_pool_options>();
    options.flags = ARROWDEVICE_POOL_SHAREABLE;
    const Pool pool(output_of(arrowdevice_pool_create, device, &options));
    auto* const server = output_of(arrowdevice_server_create, uri.c_str(), nullptr);
    std::string sent;
    for (const HostCase& one : asked_cases()) {
      sent += add(server, one, std::to_string(sent.size()), device, pool.get()) ? kSent : kLeftOut;
    }
    if (::write(ready, sent.data(), sent.size()) != static_cast<ssize_t>(sent.size()))
      throw std::runtime_error("write");
    char byte = 0;
    while (::read(wait, &byte, 1) < 0 && errno == EINTR) {
    }
    auto stats = sized<arrowdevice_server_stats>();
    must(arrowdevice_server_get_stats, server, &stats);
    arrowdevice_server_destroy(server);
    if (stats.copied_bytes != 0) throw std::runtime_error(std::to_string(stats.copied_bytes) + " bytes were copied");
  }
  trim_all();
}

// Reads the array of a case.
void read(const std::string& uri, const HostCase& one, const arrowdevice_device_info& expected) {
  auto options = sized<arrowdevice_connect_options>();
  options.copy_flags = ARROWDEVICE_COPY_NEVER;
  Owned<ArrowDeviceArrayStream> stream;
  must(arrowdevice_stream_connect, uri.c_str(), nullptr, &options, stream.out());
  Owned<ArrowDeviceArray> there;
  Owned<ArrowDeviceArray> end;
  must(arrowdevice_stream_get_next, stream.get(), there.out());
  if (there->device_type != expected.device_type) throw std::runtime_error(one.name + ": it is on another device");
  const auto schema = one.schema();
  Owned<ArrowArray> twin = one.array(Ledger());
  Owned<ArrowArray> back;
  must(arrowdevice_array_to_host, there.get(), schema.get(), nullptr, back.out());
  const std::string problem =
      back->length != twin->length ? "rows were lost" : difference(*schema, *twin, 0, *schema, *back, 0, twin->length);
  if (!problem.empty()) throw std::runtime_error(one.name + ": " + problem);
  must(arrowdevice_stream_get_next, stream.get(), end.out());
  if (!end.released()) throw std::runtime_error(one.name + ": the stream does not end");
}

// Starts the server in a process of its own before this one opens a device, because a forked child cannot use the
// devices of its parent.
void exchange(const std::string& name) {
  const std::string uri = "unix:@arrowdevice-processes-" + std::to_string(::getpid());
  int ready[2], wait[2];
  if (::pipe(ready) != 0 || ::pipe(wait) != 0) throw std::runtime_error("no pipe");
  const pid_t server = ::fork();
  if (server == 0) {
    ::close(ready[0]);
    ::close(wait[1]);
    try {
      serve(uri, name, ready[1], wait[0]);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "server: %s\n", error.what());
      std::fflush(stderr);
      ::_exit(1);
    }
    std::exit(0);  // runs the exit handlers, as in_child() does
  }
  ::close(ready[1]);
  ::close(wait[0]);
  arrowdevice_device* const device = find(name);
  auto info = sized<arrowdevice_device_info>();
  must(arrowdevice_device_get_info, device, &info);
  int read_arrays = 0;
  for (size_t i = 0; i < asked_cases().size(); ++i) {
    char sent = 0;
    if (::read(ready[0], &sent, 1) != 1) throw std::runtime_error("the server has ended");
    if (sent == kLeftOut) continue;
    read(uri + "?name=" + std::to_string(i), asked_cases()[i], info);
    ++read_arrays;
  }
  ::close(wait[1]);
  int status = 0;
  ::waitpid(server, &status, 0);
  if (status != 0) throw std::runtime_error("the server has failed");
  if (read_arrays < static_cast<int>(asked_cases().size() / 2)) throw std::runtime_error("few arrays were sent");
  trim_all();
}

TEST_CASE("a process reads the arrays of another without a copy, for every type") {
  const char* const names = std::getenv("ARROWDEVICE_TEST_DEVICES");
  REQUIRE(names != nullptr);
  std::stringstream text(names);
  for (std::string name; std::getline(text, name, ',');) {
    INFO(name);
    CHECK(in_child([&] {
            ::alarm(300);
            exchange(name);
          }) == "");
  }
}

}  // namespace
