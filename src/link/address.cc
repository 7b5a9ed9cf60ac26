// SPDX-License-Identifier: Apache-2.0
#include "link/address.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/interrupt.h"

namespace arrowdevice::link {
namespace {

constexpr int kBacklog = 128;
constexpr mode_t kOwnerOnly = 0600;
constexpr mode_t kEverybody = 0666;
constexpr uid_t kOverflowUser = 65534;  // stands for all users of other namespaces
constexpr auto kRetry = std::chrono::milliseconds(1);

[[noreturn]] void refuse(const std::string& what, int code = errno) {
  throw Error(code, what + ": " + std::strerror(code));
}

[[noreturn]] void refuse_address(std::string_view uri, const std::string& why) {
  throw Error(EINVAL, "the address \"" + std::string(uri) + "\" " + why);
}

// Replaces %XX by the byte with that number.
std::string decoded(std::string_view uri, std::string_view part) {
  std::string text;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '%') {
      text += part[i];
      continue;
    }
    constexpr size_t kDigits = 2;
    constexpr int kHexadecimal = 16;
    unsigned value = 0;
    const std::string_view digits = part.substr(i + 1, kDigits);
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, kHexadecimal);
    if (digits.size() < kDigits || code != std::errc() || end != digits.data() + kDigits || value == 0) {
      refuse_address(uri, "has a % without two hexadecimal digits");
    }
    text += static_cast<char>(value);
    i += kDigits;
  }
  return text;
}

std::string name_in(std::string_view uri, std::string_view query) {
  constexpr std::string_view kName = "name=";
  if (!query.starts_with(kName)) refuse_address(uri, "has something other than name= after the question mark");
  return decoded(uri, query.substr(kName.size()));
}

struct SocketAddress {
  explicit SocketAddress(const Address& address) {
    value.sun_family = AF_UNIX;
    const bool is_abstract = address.kind == Address::Kind::kAbstract;
    const size_t first = is_abstract ? 1 : 0;
    if (first + address.path.size() >= sizeof value.sun_path) {
      refuse_address(address.text, "has a path of " + std::to_string(address.path.size()) + " bytes (at most " +
                                       std::to_string(sizeof value.sun_path - 2) + ")");
    }
    std::memcpy(value.sun_path + first, address.path.data(), address.path.size());
    size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + first + address.path.size() + (is_abstract ? 0 : 1));
  }

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&value); }

  sockaddr_un value{};
  socklen_t size = 0;
};

FileDescriptor new_socket() {
  FileDescriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made) refuse("no socket");
  return made;
}

// Returns a duplicate of the socket that the address names by its number.
FileDescriptor duplicate_of(const Address& address) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(address.descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    refuse_address(address.text, "names no stream socket");
  }
  auto duplicate = FileDescriptor::duplicate_of(address.descriptor);
  if (!duplicate) refuse("no descriptor for " + address.text);
  return duplicate;
}

// Returns true if a process accepts clients there, which may have no lock file.
bool is_served(const SocketAddress& address) {
  const auto socket = new_socket();
  ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  return ::connect(socket.get(), address.get(), address.size) == 0 || errno == EAGAIN;
}

uid_t user_of(int socket) noexcept {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 ? credentials.uid : kOverflowUser;
}

}  // namespace

Address parse_address(std::string_view uri) {
  Address address;
  address.text = uri;
  const auto rest_of = [&](std::string_view scheme) { return uri.substr(scheme.size()); };
  const size_t question = uri.find('?');
  const auto query = question == std::string_view::npos ? std::string_view() : uri.substr(question + 1);
  if (question != std::string_view::npos) {
    address.name = name_in(uri, query);
    uri = uri.substr(0, question);
  }
  if (uri.starts_with("unix:")) {
    auto path = rest_of("unix:");
    if (path.starts_with('@')) {
      address.kind = Address::Kind::kAbstract;
      path.remove_prefix(1);
    }
    if (path.empty()) refuse_address(address.text, "has no path");
    if (address.kind == Address::Kind::kPath && !path.starts_with('/')) {
      refuse_address(address.text, "has a path that does not begin with a slash");
    }
    address.path = decoded(address.text, path);
    return address;
  }
  if (uri.starts_with("fd:")) {
    const auto number = rest_of("fd:");
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), address.descriptor);
    if (code != std::errc() || end != number.data() + number.size() || address.descriptor < 0) {
      refuse_address(address.text, "has no number of a descriptor");
    }
    address.kind = Address::Kind::kDescriptor;
    return address;
  }
  throw Error(ENOTSUP, "the address \"" + address.text + "\" is none of unix:/PATH, unix:@NAME and fd:NUMBER");
}

// The destructor ends a socket whose constructor fails after the first line.
ListeningSocket::ListeningSocket(const Address& address, bool any_user) : ListeningSocket() {
  const SocketAddress bound(address);
  socket_.open(new_socket);
  ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);  // a client may end before it is accepted
  // The kernel gives the file of the socket the mode of the socket, less the process's umask.
  if (::fchmod(socket_.get(), any_user ? kEverybody : kOwnerOnly) != 0) refuse("fchmod of a socket");
  const bool has_file = address.kind == Address::Kind::kPath;
  if (has_file) {
    lock_file(address.path + ".lock");
    struct stat facts {};
    if (::lstat(address.path.c_str(), &facts) == 0) {
      if (!S_ISSOCK(facts.st_mode)) throw Error(EEXIST, address.path + " exists, and is no socket");
      if (is_served(bound)) throw Error(EADDRINUSE, "another program has a server at " + address.path);
      if (::unlink(address.path.c_str()) != 0) refuse("the socket of an earlier server, " + address.path);
    }
  }
  if (::bind(socket_.get(), bound.get(), bound.size) != 0) refuse("no server at " + address.text);
  if (has_file) path_ = address.path;
  if (has_file && any_user && ::chmod(path_.c_str(), kEverybody) != 0) refuse("chmod of " + path_);
  if (::listen(socket_.get(), kBacklog) != 0) refuse("no server at " + address.text);
}

// Does not wait for another server. A server that ends removes its lock file, so the file must be the one at the path
// after it was locked.
void ListeningSocket::lock_file(const std::string& path) {
  for (;;) {
    lock_.open(
        [&] { return FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly)); });
    if (!lock_) refuse("the lock file " + path);
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      const int code = errno;
      lock_.reset();
      if (code == EWOULDBLOCK) throw Error(EADDRINUSE, "another server has locked " + path);
      refuse("the lock of " + path, code);
    }
    struct stat locked {
    }, there{};
    if (::fstat(lock_.get(), &locked) == 0 && ::stat(path.c_str(), &there) == 0 && locked.st_ino == there.st_ino &&
        locked.st_dev == there.st_dev) {
      lock_path_ = path;
      return;
    }
    lock_.reset();
  }
}

// A forked child has no lock, and the files are its parent's.
ListeningSocket::~ListeningSocket() {
  if (!lock_) return;
  if (!path_.empty()) ::unlink(path_.c_str());
  if (!lock_path_.empty()) ::unlink(lock_path_.c_str());
}

void ListeningSocket::stop() noexcept { ::shutdown(socket_.get(), SHUT_RDWR); }

FileDescriptor connect_to(const Address& address, const Deadline& deadline) {
  if (address.kind == Address::Kind::kDescriptor) return duplicate_of(address);
  const SocketAddress there(address);
  auto socket = new_socket();
  // A socket that does not block fails with EAGAIN as long as too many clients wait to be accepted.
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  interrupt::RegularCheck regular;
  while (::connect(socket.get(), there.get(), there.size) != 0) {
    if (errno != EAGAIN && errno != EINTR) refuse("no server at " + address.text);
    if (deadline.left() < 0) throw Error(ETIMEDOUT, "the server at " + address.text + " does not accept clients");
    regular.run_if_due();
    std::this_thread::sleep_for(kRetry);
  }
  ::fcntl(socket.get(), F_SETFL, flags);
  return socket;
}

bool is_same_user(int socket) noexcept {
  const uid_t user = user_of(socket);
  return user == ::geteuid() && user != kOverflowUser;
}

void check_same_user(int socket, const char* who) {
  if (is_same_user(socket)) return;
  throw Error(EACCES, std::string(who) + " is a process of user " + std::to_string(user_of(socket)) +
                          ", and this is one of user " + std::to_string(::geteuid()));
}

}  // namespace arrowdevice::link
