// SPDX-License-Identifier: Apache-2.0
#include "link_streams.h"

#include <unistd.h>

namespace link_test {

std::string new_address() {
  static int last = 0;
  return "unix:@arrowdevice-test-" + std::to_string(getpid()) + "-" + std::to_string(++last);
}

arrowdevice_server_options server_options(uint32_t flags, uint32_t copy_flags) {
  arrowdevice_server_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  options.copy_flags = copy_flags;
  return options;
}

arrowdevice_connect_options connect_options(uint32_t copy_flags, int64_t timeout_ns) {
  arrowdevice_connect_options options{};
  options.struct_size = sizeof options;
  options.copy_flags = copy_flags;
  options.timeout_ns = timeout_ns;
  return options;
}

Server::Server(const arrowdevice_server_options& options, std::string uri) : uri_(std::move(uri)) {
  arrowdevice_server* made = nullptr;
  must(arrowdevice_server_create, uri_.c_str(), &options, &made);
  server_.reset(made);
}

struct arrowdevice_server_stats Server::stats() const {
  struct arrowdevice_server_stats stats {};
  stats.struct_size = sizeof stats;
  must(arrowdevice_server_get_stats, static_cast<const arrowdevice_server*>(get()), &stats);
  return stats;
}

void Server::add(const std::string& name, DeviceStream stream) {
  must(arrowdevice_server_add_stream, get(), name.c_str(), stream.get());
}

void Server::add(const std::string& name, const Schema& schema, Array& array) {
  must(arrowdevice_server_add_arrays, get(), name.c_str(), schema.get(), array.get(), int64_t{1});
}

DeviceStream connect(const std::string& uri, arrowdevice_device* to, const arrowdevice_connect_options& options) {
  DeviceStream stream;
  must(arrowdevice_stream_connect, uri.c_str(), to, &options, stream.out());
  return stream;
}

std::string refused_connect(Expected expected, const std::string& uri, arrowdevice_device* to,
                            const arrowdevice_connect_options& options) {
  DeviceStream none;
  auto text = refused(expected, arrowdevice_stream_connect, uri.c_str(), to, &options, none.out());
  CHECK(none->release == nullptr);
  return text;
}

std::string rest_of(DeviceStream& stream) {
  Array end;
  if (stream->get_next(stream.get(), end.out()) != 0) return stream->get_last_error(stream.get());
  return end->array.release == nullptr ? "" : "another batch";
}

}  // namespace link_test
