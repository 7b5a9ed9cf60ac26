// SPDX-License-Identifier: Apache-2.0
// Addresses of servers, and the Unix sockets behind them.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/closed_in_children.h"
#include "base/deadline.h"
#include "base/file_descriptor.h"

namespace arrowdevice::link {

// The parts of an address: "unix:/run/prices.sock?name=bids", "unix:@abstract", "fd:7".
struct Address {
  enum class Kind { kPath, kAbstract, kDescriptor };

  Kind kind = Kind::kPath;
  std::string text;     // the address, for messages
  std::string path;     // of the socket, or its abstract name
  int descriptor = -1;  // of kDescriptor
  std::string name;     // of the stream; may be empty
};

// Throws EINVAL with the reason, or ENOTSUP for another kind of address.
Address parse_address(std::string_view uri);

// A socket that accepts clients. The destructor removes its file. A forked child has no copy of it.
class ListeningSocket {
 public:
  // Replaces the file of a server that has ended. Throws EADDRINUSE if a server has the address. If `any_user` is
  // false, only the user who owns the file may connect.
  ListeningSocket(const Address& address, bool any_user);
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  int get() const noexcept { return socket_.get(); }

  // Ends waits for a client.
  void stop() noexcept;

 private:
  ListeningSocket() = default;
  void lock_file(const std::string& path);

  std::string path_, lock_path_;  // of the files that exist
  ClosedInChildren lock_;
  ClosedInChildren socket_;
};

// Connects to a server, or duplicates the descriptor of the address. Throws ECONNREFUSED or ENOENT if there is none.
FileDescriptor connect_to(const Address& address, const Deadline& deadline);

// Throws EACCES if the process at the other end is not of this process's user. `who` names that process.
void check_same_user(int socket, const char* who);

// Returns true if the process at the other end is of this process's user.
bool is_same_user(int socket) noexcept;

}  // namespace arrowdevice::link
