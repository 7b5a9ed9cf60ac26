// SPDX-License-Identifier: Apache-2.0
// Other processes for tests of handles, and the socket to them.
//
//   Peer peer([](int socket) { say(socket, problem(open_received(receive_handle(socket)))); });
//   send_handle(peer.socket(), *handle);
//   CHECK(peer.answer() == "");
#pragma once

#include <arrowdevice/arrowdevice.h>
#include <sys/types.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "library.h"
#include "support/catch.h"
#include "support/releases.h"

namespace link_test {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::FileDescriptor;

// Releases the handle when it goes out of scope.
class Handle {
 public:
  Handle() = default;
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Handle& operator=(Handle&&) = delete;

  arrowdevice_ipc_handle* out() noexcept { return &handle_; }
  const arrowdevice_ipc_handle& operator*() const noexcept { return handle_; }
  const arrowdevice_ipc_handle* operator->() const noexcept { return &handle_; }
  void reset() noexcept { arrowdevice_ipc_handle_release(&handle_); }

 private:
  arrowdevice_ipc_handle handle_{};
};

Handle get_handle(Array& array, const Schema& schema, uint32_t flags = 0, arrowdevice_pool* pool = nullptr);

// The bytes and descriptors of a handle as another process has them.
struct Received {
  std::vector<uint8_t> bytes;
  std::vector<FileDescriptor> descriptors;

  std::vector<int> numbers() const;
};

// Returns a copy of a handle, as it would come through a socket.
Received received(const arrowdevice_ipc_handle& handle);

struct Opened {
  Array array;
  Schema schema;
};
Opened open_received(const Received& handle, const arrowdevice_copy_options* options = nullptr);

// Returns the text of the failure to open a handle with these bytes, or "" after success.
std::string refused_open(const std::vector<uint8_t>& bytes, const std::vector<int>& descriptors, int* code = nullptr,
                         const arrowdevice_copy_options* options = nullptr);

void send_handle(int socket, const arrowdevice_ipc_handle& handle);
Received receive_handle(int socket);

void say(int socket, const std::string& text);
std::string hear(int socket);  // Throws if the other process has ended.

// A process that runs `body` and ends. It has the other end of the socket.
class Peer {
 public:
  explicit Peer(const std::function<void(int socket)>& body);
  ~Peer() { kill(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  int socket() const noexcept { return socket_.get(); }
  std::string answer() const { return hear(socket()); }

  // Ends the process by SIGKILL and waits for its end.
  void kill() noexcept;

 private:
  FileDescriptor socket_;
  pid_t process_ = -1;
};

// In a process with a user, PID, IPC and mount namespace of its own: runs `body`. Waits for the end of that process.
// Says kNotPermitted if this process may not make it.
void in_namespaces(int socket, const std::function<void()>& body);

inline constexpr const char* kNotPermitted = "this user may not do that";

// Accepts an answer that this user may not do what root may, unless this is CI.
inline void check_answer(const std::string& answer) {
  if (answer == kNotPermitted && std::getenv("CI") == nullptr) {
    WARN(answer);
  } else {
    CHECK(answer == "");
  }
}

// Returns the number of open descriptors of this process.
int64_t open_descriptors();

// Returns the number of mappings of shareable memory in this process.
int64_t shared_mappings();

// Returns the number of the file in which an address lies, and how many mappings of that file this process has.
uint64_t file_at(const void* address);
int64_t mappings_of(uint64_t file);

// The descriptors of this process, and its mappings of shareable memory.
struct Usage {
  int64_t descriptors = open_descriptors();
  int64_t mappings = shared_mappings();
  friend bool operator==(const Usage&, const Usage&) = default;

  // Returns true if nothing was added. Threads of earlier tests may still close what they have.
  bool is_at_most(const Usage& other) const { return descriptors <= other.descriptors && mappings <= other.mappings; }
};

// Returns the bytes of memory files of all processes, and how many of them other programs may allocate during a test.
int64_t shared_memory();
inline constexpr int64_t kOfOthers = 200'000'000;

// How often a test kills a process at a random moment.
inline constexpr int kKills = 1000;

Pool make_shareable_pool(arrowdevice_device* device = cpu());
int64_t used_bytes(const Pool& pool);

}  // namespace link_test
