// SPDX-License-Identifier: Apache-2.0
// Servers and clients of tests. Most of them are in one process.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "link_peer.h"
#include "stream_producer.h"

namespace link_test {

using stream_test::batches_of;
using stream_test::DeviceStream;
using stream_test::difference_of_rest;
using stream_test::next;
using stream_test::next_fails;
using stream_test::Producer;
using stream_test::stream_of;

// An address that no other test uses, in no folder.
std::string new_address();

arrowdevice_server_options server_options(uint32_t flags = 0, uint32_t copy_flags = 0);
arrowdevice_connect_options connect_options(uint32_t copy_flags = 0, int64_t timeout_ns = 0);

struct ServerDestroy {
  void operator()(arrowdevice_server* server) const { arrowdevice_server_destroy(server); }
};

// A server at an address of its own.
class Server {
 public:
  explicit Server(const arrowdevice_server_options& options = server_options(), std::string uri = new_address());

  arrowdevice_server* get() const noexcept { return server_.get(); }
  std::string at(const std::string& name) const { return uri_ + "?name=" + name; }
  const std::string& uri() const noexcept { return uri_; }
  struct arrowdevice_server_stats stats() const;
  void destroy() { server_.reset(); }

  void add(const std::string& name, DeviceStream stream);
  void add(const std::string& name, const Schema& schema, Array& array);

 private:
  std::string uri_;
  std::unique_ptr<arrowdevice_server, ServerDestroy> server_;
};

// Holds up a producer's calls, and lets them through when the test ends.
class Gate {
 public:
  explicit Gate(int64_t calls) { let(calls); }
  ~Gate() { let(INT64_MAX); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Lets the calls with numbers below `calls` through.
  void let(int64_t calls) {
    const std::lock_guard lock(state_->mutex);
    state_->calls = calls;
    state_->changed.notify_all();
  }

  std::function<void(int64_t)> callback() const {
    return [state = state_](int64_t call) {
      std::unique_lock lock(state->mutex);
      state->changed.wait(lock, [&] { return call < state->calls; });
    };
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int64_t calls = 0;
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

DeviceStream connect(const std::string& uri, arrowdevice_device* to = nullptr,
                     const arrowdevice_connect_options& options = connect_options());

// Returns the text of the failure to connect.
std::string refused_connect(Expected expected, const std::string& uri, arrowdevice_device* to = nullptr,
                            const arrowdevice_connect_options& options = connect_options());

// Returns "" if the stream is at its end, else its error or what it gives instead.
std::string rest_of(DeviceStream& stream);

}  // namespace link_test
