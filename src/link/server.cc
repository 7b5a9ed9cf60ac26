// SPDX-License-Identifier: Apache-2.0
#include "link/server.h"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/background.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "link/server_connection.h"

namespace arrowdevice::link {
namespace {

constexpr auto kAcceptAgain = std::chrono::milliseconds(100);

void report(int code) noexcept {
  try {
    log(LogLevel::kWarning, std::string("a server accepts no more clients for now: ") + std::strerror(code));
  } catch (const std::bad_alloc&) {
    log(LogLevel::kWarning, "a server accepts no more clients for now, for want of memory");
  }
}

}  // namespace

std::shared_ptr<Source> ServerState::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  if (name.empty() && sources_.size() == 1) return sources_.begin()->second;
  const auto found = sources_.find(name);
  if (found != sources_.end()) return found->second;
  std::string names;
  for (const auto& [one, source] : sources_) names += (names.empty() ? "" : ", ") + one;
  throw Error(ENOENT, (name.empty() ? std::string("the address names no stream") : "there is no stream " + name) +
                          (names.empty() ? "; the server has none" : "; the server has: " + names));
}

// Needs the mutex.
void ServerState::insert(const std::string& name, std::shared_ptr<Source> source) {
  if (!sources_.emplace(name, std::move(source)).second) throw Error(EEXIST, "the server has a stream " + name);
}

void ServerState::remove(const std::string& name) {
  std::shared_ptr<Source> source;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = sources_.find(name);
  if (found == sources_.end()) throw Error(ENOENT, "the server has no stream " + name);
  source = std::move(found->second);
  sources_.erase(found);
}

void ServerState::enter(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  if (is_stopped_) throw Error(ECANCELED, "the server was stopped");
  if (std::ssize(connections_) >= options.max_clients) {
    throw Error(EBUSY, "the server has " + std::to_string(connections_.size()) + " clients, which is its limit");
  }
  connections_.insert(connection);
}

void ServerState::leave(const std::shared_ptr<Connection>& connection) noexcept {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
}

bool ServerState::begin_calls() noexcept {
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return false;
  ++calling_;
  return true;
}

void ServerState::end_calls() noexcept {
  const std::lock_guard lock(mutex_);
  --calling_;
  changed_.notify_all();
}

void ServerState::count_batch(int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  ++stats_.batches;
  stats_.bytes += bytes;
}

void ServerState::count_copied(int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.copied_bytes += bytes;
}

arrowdevice_server_stats ServerState::stats() const {
  const std::lock_guard lock(mutex_);
  auto stats = stats_;
  stats.clients = std::ssize(connections_);
  return stats;
}

void ServerState::stop() noexcept {
  decltype(sources_) sources;  // destroyed without the lock
  decltype(connections_) connections;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    connections.swap(connections_);
  }
  for (const auto& connection : connections) connection->stop();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return calling_ == 0; });
  sources.swap(sources_);
  lock.unlock();
}

struct Server::Listener {
  Listener(const Address& address, const ServerOptions& options, std::shared_ptr<ServerState> its_state)
      : socket(std::in_place, address, options.any_user),
        trust(options.any_user ? Trust::kAnyUser : Trust::kSameUser),
        state(std::move(its_state)) {}

  std::optional<ListeningSocket> socket;
  const Trust trust;
  const std::shared_ptr<ServerState> state;
  std::atomic<bool> is_closed{false};
  std::mutex mutex;
  ConditionVariable changed;
  bool has_thread = true;
};

void Server::accept_clients(Listener& listener) noexcept {
  bool is_reported = false;
  while (!listener.is_closed) {
    pollfd waited{listener.socket->get(), POLLIN, 0};
    if (::poll(&waited, 1, -1) < 0 && errno == EINTR) continue;
    if (listener.is_closed) break;
    if ((waited.revents & POLLNVAL) != 0) {  // a program that closes all descriptors closes this one too
      log(LogLevel::kError, "a server accepts no more clients: its socket was closed");
      break;
    }
    if (accept_client(listener)) continue;
    const int code = errno;
    if (code == EAGAIN || code == ECONNABORTED || code == EINTR) continue;
    if (!std::exchange(is_reported, true)) report(code);
    std::this_thread::sleep_for(kAcceptAgain);
  }
  const std::lock_guard lock(listener.mutex);
  listener.has_thread = false;
  listener.changed.notify_all();
}

// Returns false with `errno` set if there is no client. A client that is refused counts. A client for whom there is no
// memory loses the connection, so that it does not wait.
bool Server::accept_client(Listener& listener) noexcept {
  const auto accepted = [&] {
    return FileDescriptor(::accept4(listener.socket->get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  };
  std::shared_ptr<Connection> connection;
  try {
    connection = std::make_shared<Connection>(listener.state, listener.trust);
    if (!connection->open(accepted)) return false;
    listener.state->enter(connection);
    connection->start();
  } catch (...) {
    const auto failure = Failure::current();
    if (connection == nullptr) return static_cast<bool>(accepted());
    listener.state->leave(connection);
    connection->refuse(failure);
  }
  return true;
}

Server::Server(const Address& address, const ServerOptions& options)
    : generation_(process::generation()), state_(std::make_shared<ServerState>(options)) {
  if (!address.name.empty()) throw Error(EINVAL, "the address of a server has no name: " + address.text);
  if (address.kind != Address::Kind::kDescriptor) {
    listener_ = std::make_shared<Listener>(address, options, state_);
    background::start([listener = listener_] { accept_clients(*listener); });
    return;
  }
  const auto connection = std::make_shared<Connection>(state_, Trust::kOwnChannel);
  auto socket = connect_to(address, Deadline(ARROWDEVICE_NO_TIMEOUT));
  connection->open([&] { return std::move(socket); });
  state_->enter(connection);
  try {
    connection->start();
  } catch (...) {
    state_->leave(connection);
    throw;
  }
}

// A forked child has none of the threads, so the waits would not end.
Server::~Server() {
  if (generation_ != process::generation()) return;
  if (listener_ != nullptr) {
    listener_->is_closed = true;
    listener_->socket->stop();
    std::unique_lock lock(listener_->mutex);
    listener_->changed.wait(lock, [this] { return !listener_->has_thread; });
    listener_->socket.reset();
  }
  state_->stop();
}

}  // namespace arrowdevice::link
