// SPDX-License-Identifier: Apache-2.0
// The C functions for streams between processes.
#include <memory>
#include <span>
#include <string>

#include "api/handles.h"
#include "base/sized_struct.h"
#include "link/client_stream.h"
#include "link/server.h"
#include "link/sources.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::required;

struct arrowdevice_server {
  arrowdevice_server(const link::Address& address, const link::ServerOptions& options) : server(address, options) {}

  link::Server server;
};

namespace {

// Struct sizes in bytes in programs of the first release.
constexpr uint32_t kFirstServerOptionsSize = 24;
constexpr uint32_t kFirstConnectOptionsSize = 32;
constexpr uint32_t kFirstStatsSize = 40;
constexpr int32_t kDefaultClients = 64;
constexpr int32_t kDefaultBatches = 64;
constexpr int64_t kDefaultBytes = int64_t{64} << 20;
constexpr int64_t kDefaultClientBytes = int64_t{1} << 30;

void check_flags(uint32_t flags, uint32_t known) {
  if ((flags & ~known) != 0) throw Error(EINVAL, format("options.flags has unknown bits 0x%x", flags & ~known));
}

template <typename Number>
Number or_default(Number given, Number usual, const char* name) {
  if (given < 0) throw Error(EINVAL, format("options.%s is %lld", name, static_cast<long long>(given)));
  return given == 0 ? usual : given;
}

link::ServerOptions read(const arrowdevice_server_options* given) {
  const auto options = read_sized(given, kFirstServerOptionsSize, "options");
  check_flags(options.flags, ARROWDEVICE_LINK_ANY_USER | ARROWDEVICE_LINK_ISOLATED);
  link::ServerOptions read;
  read.any_user = (options.flags & ARROWDEVICE_LINK_ANY_USER) != 0;
  read.is_isolated = (options.flags & ARROWDEVICE_LINK_ISOLATED) != 0;
  read.max_clients = or_default(options.max_clients, kDefaultClients, "max_clients");
  read.max_client_bytes = or_default(options.max_client_bytes, kDefaultClientBytes, "max_client_bytes");
  read.copy = api::read_copy_flags(options.copy_flags, "options.copy_flags");
  if (read.copy.always)
    throw Error(EINVAL,
                "options.copy_flags has COPY_ALWAYS (expected 0 or COPY_NEVER; LINK_ISOLATED copies for each client)");
  return read;
}

link::ConnectOptions read(const arrowdevice_connect_options* given) {
  const auto options = read_sized(given, kFirstConnectOptionsSize, "options");
  check_flags(options.flags, ARROWDEVICE_LINK_ANY_USER);
  link::ConnectOptions read;
  read.any_user = (options.flags & ARROWDEVICE_LINK_ANY_USER) != 0;
  read.batches = or_default(options.max_batches, kDefaultBatches, "max_batches");
  read.bytes = or_default(options.max_bytes, kDefaultBytes, "max_bytes");
  read.timeout_ns = options.timeout_ns;
  read.copy = api::read_copy_flags(options.copy_flags, "options.copy_flags");
  return read;
}

link::ServerState& state_of(const arrowdevice_server* server) {
  return const_cast<arrowdevice_server&>(required(server, "server")).server.state();
}

std::string name_of(const char* name) {
  if (required(name, "name") == '\0') throw Error(EINVAL, "name is empty");
  return name;
}

}  // namespace

extern "C" {

ARROWDEVICE_API int arrowdevice_server_create(const char* uri, const arrowdevice_server_options* options,
                                              arrowdevice_server** out, arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    *out = new arrowdevice_server(link::parse_address(&required(uri, "uri")), read(options));
  });
}

ARROWDEVICE_API int arrowdevice_server_add_stream(arrowdevice_server* server, const char* name,
                                                  ArrowDeviceArrayStream* moved, arrowdevice_error* error) {
  return guarded(error, [&] {
    auto& state = state_of(server);
    const auto known_as = name_of(name);
    if (required(moved, "moved").release == nullptr) throw Error(EINVAL, "the stream is released");
    const auto source = std::make_shared<link::StreamSource>();
    state.add(known_as, source, [&] { source->take(*moved); });
  });
}

ARROWDEVICE_API int arrowdevice_server_add_arrays(arrowdevice_server* server, const char* name,
                                                  const ArrowSchema* schema, ArrowDeviceArray* inout, int64_t n,
                                                  arrowdevice_error* error) {
  return guarded(error, [&] {
    auto& state = state_of(server);
    const auto known_as = name_of(name);
    if (n < 0) throw Error(EINVAL, format("n is %lld", static_cast<long long>(n)));
    if (n > 0) required(inout, "inout");
    const auto source = std::make_shared<link::ArraysSource>(
        required(schema, "schema"), std::span(inout, static_cast<size_t>(n)), state.options.copy);
    state.add(known_as, source, [] {});
    state.count_copied(source->copied_bytes());
  });
}

ARROWDEVICE_API int arrowdevice_server_add_source(arrowdevice_server* server, const char* name,
                                                  arrowdevice_open_stream open, void* user,
                                                  void (*user_release)(void* user), arrowdevice_error* error) {
  return guarded(error, [&] {
    auto& state = state_of(server);
    const auto known_as = name_of(name);
    if (open == nullptr) api::refuse_null("open");
    const auto source = std::make_shared<link::FunctionSource>(open, user);
    state.add(known_as, source, [&] { source->own(user_release); });
  });
}

ARROWDEVICE_API int arrowdevice_server_remove(arrowdevice_server* server, const char* name, arrowdevice_error* error) {
  return guarded(error, [&] { state_of(server).remove(&required(name, "name")); });
}

ARROWDEVICE_API int arrowdevice_server_get_stats(const arrowdevice_server* server, arrowdevice_server_stats* out,
                                                 arrowdevice_error* error) {
  return guarded(error, [&] { write_sized(out, state_of(server).stats(), kFirstStatsSize, "out"); });
}

ARROWDEVICE_API void arrowdevice_server_destroy(arrowdevice_server* server) { delete server; }

ARROWDEVICE_API int arrowdevice_stream_connect(const char* uri, arrowdevice_device* to,
                                               const arrowdevice_connect_options* options, ArrowDeviceArrayStream* out,
                                               arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out").release = nullptr;
    link::connect_stream(link::parse_address(&required(uri, "uri")), api::from_c(to), read(options), out);
  });
}

}  // extern "C"
