// SPDX-License-Identifier: Apache-2.0
// Servers: they offer streams to other processes, under names.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/condition_variable.h"
#include "link/address.h"
#include "link/sources.h"
#include "transfer/move.h"

namespace arrowdevice::link {

class Connection;

struct ServerOptions {
  bool any_user = false;
  bool is_isolated = false;  // each client has a pool of its own
  int64_t max_clients = 0;
  int64_t max_client_bytes = 0;  // of the copies in a client's own pool
  transfer::CopyOptions copy;
};

// The part of a server that its threads share.
class ServerState {
 public:
  explicit ServerState(const ServerOptions& its_options) : options(its_options) {}

  const ServerOptions options;

  // Returns the source with that name. Without a name, returns the only source. Throws ENOENT.
  std::shared_ptr<Source> find(const std::string& name) const;
  // Adds a source, and calls `added` before a client can find it. Throws EEXIST.
  template <typename Added>
  void add(const std::string& name, std::shared_ptr<Source> source, const Added& added) {
    const std::lock_guard lock(mutex_);
    insert(name, std::move(source));
    added();
  }

  void remove(const std::string& name);  // Throws ENOENT.

  // Throws EBUSY if the server has as many clients as it may have, and ECANCELED if it has been stopped.
  void enter(const std::shared_ptr<Connection>& connection);
  void leave(const std::shared_ptr<Connection>& connection) noexcept;

  // Count the threads that call the program. stop() waits for them.
  bool begin_calls() noexcept;  // Returns false if the server has been stopped.
  void end_calls() noexcept;

  void count_batch(int64_t bytes) noexcept;
  void count_copied(int64_t bytes) noexcept;
  arrowdevice_server_stats stats() const;

  // Stops all connections, and waits until no thread calls the program.
  void stop() noexcept;

 private:
  void insert(const std::string& name, std::shared_ptr<Source> source);

  mutable std::mutex mutex_;  // guards all members below
  ConditionVariable changed_;
  std::map<std::string, std::shared_ptr<Source>> sources_;
  std::set<std::shared_ptr<Connection>> connections_;
  int64_t calling_ = 0;
  bool is_stopped_ = false;
  arrowdevice_server_stats stats_{};
};

class Server {
 public:
  // Begins to accept clients. An address with a descriptor has one client.
  Server(const Address& address, const ServerOptions& options);
  // Waits for calls of the program that are running. Arrays that clients use stay valid.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  ServerState& state() noexcept { return *state_; }

 private:
  // The socket that accepts clients, and the thread that waits for them.
  struct Listener;

  static void accept_clients(Listener& listener) noexcept;
  static bool accept_client(Listener& listener) noexcept;

  const int generation_;  // of the process that made the server
  const std::shared_ptr<ServerState> state_;
  std::shared_ptr<Listener> listener_;
};

}  // namespace arrowdevice::link
