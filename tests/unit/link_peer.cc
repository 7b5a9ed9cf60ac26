// SPDX-License-Identifier: Apache-2.0
#include "link_peer.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>

#include "support/descriptors.h"
#include "support/ending.h"

namespace link_test {

using arrowdevice::testing::receive_with_descriptors;
using arrowdevice::testing::send_with_descriptors;

namespace {

// In a child: runs `body` and ends.
[[noreturn]] void run(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the other process: %s\n", error.what());
    end_child(1);
  }
  end_child(0);
}

void write_all(int socket, const void* data, size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::send(socket, bytes, size, MSG_NOSIGNAL);
    expect(n > 0, "the other process has ended");
    bytes += n;
    size -= static_cast<size_t>(n);
  }
}

void read_all(int socket, void* data, size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = ::recv(socket, bytes, size, 0);
    expect(n > 0, "the other process has ended");
    bytes += n;
    size -= static_cast<size_t>(n);
  }
}

}  // namespace

Handle get_handle(Array& array, const Schema& schema, uint32_t flags, arrowdevice_pool* pool) {
  const auto options = copy_options(flags, nullptr, pool);
  Handle handle;
  must(arrowdevice_array_get_ipc_handle, array.get(), schema.get(), &options, handle.out());
  return handle;
}

std::vector<int> Received::numbers() const {
  std::vector<int> numbers;
  for (const auto& descriptor : descriptors) numbers.push_back(descriptor.get());
  return numbers;
}

Received received(const arrowdevice_ipc_handle& handle) {
  Received copy;
  copy.bytes.assign(handle.bytes, handle.bytes + handle.size);
  for (int32_t i = 0; i < handle.n_descriptors; ++i) {
    copy.descriptors.emplace_back(fcntl(handle.descriptors[i], F_DUPFD_CLOEXEC, 0));
  }
  return copy;
}

Opened open_received(const Received& handle, const arrowdevice_copy_options* options) {
  Opened opened;
  const auto numbers = handle.numbers();
  must(arrowdevice_array_open_ipc_handle, handle.bytes.data(), std::ssize(handle.bytes), numbers.data(),
       std::ssize(numbers), options, opened.array.out(), opened.schema.out());
  return opened;
}

std::string refused_open(const std::vector<uint8_t>& bytes, const std::vector<int>& descriptors, int* code,
                         const arrowdevice_copy_options* options) {
  Opened opened;
  arrowdevice_error error{};
  const int result =
      arrowdevice_array_open_ipc_handle(bytes.data(), std::ssize(bytes), descriptors.data(), std::ssize(descriptors),
                                        options, opened.array.out(), opened.schema.out(), &error);
  if (code != nullptr) *code = result;
  return result == 0 ? "" : error.message;
}

void send_handle(int socket, const arrowdevice_ipc_handle& handle) {
  write_all(socket, &handle.size, sizeof handle.size);
  const std::span descriptors(handle.descriptors, static_cast<size_t>(handle.n_descriptors));
  expect(send_with_descriptors(socket, handle.bytes, 1, descriptors), "sendmsg failed");
  write_all(socket, handle.bytes + 1, static_cast<size_t>(handle.size) - 1);
}

Received receive_handle(int socket) {
  int64_t size = 0;
  read_all(socket, &size, sizeof size);
  Received handle;
  handle.bytes.resize(static_cast<size_t>(size));
  std::vector<int> numbers;
  expect(receive_with_descriptors(socket, handle.bytes.data(), 1, numbers) == 1, "the other process has ended");
  for (const int number : numbers) handle.descriptors.emplace_back(number);
  read_all(socket, handle.bytes.data() + 1, handle.bytes.size() - 1);
  return handle;
}

void say(int socket, const std::string& text) {
  const size_t size = text.size();
  write_all(socket, &size, sizeof size);
  write_all(socket, text.data(), size);
}

std::string hear(int socket) {
  size_t size = 0;
  read_all(socket, &size, sizeof size);
  std::string text(size, '\0');
  read_all(socket, text.data(), size);
  return text;
}

// clone() makes a user namespace whatever the threads of this process; unshare() fails if there is a second one, and
// the thread sanitizer may have one.
void in_namespaces(int socket, const std::function<void()>& body) {
  const long process = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS | SIGCHLD, nullptr,
                               nullptr, nullptr, 0);
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(body);
  }
  if (process < 0) return say(socket, kNotPermitted);
  waitpid(static_cast<pid_t>(process), nullptr, 0);
}

Peer::Peer(const std::function<void(int socket)>& body) {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  socket_ = FileDescriptor(ends[0]);
  FileDescriptor theirs(ends[1]);
  process_ = fork();
  REQUIRE(process_ >= 0);
  if (process_ > 0) return;
  socket_.reset();
  run([&] { body(theirs.get()); });
}

void Peer::kill() noexcept {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

int64_t open_descriptors() {
  constexpr int kMost = 4096;
  int64_t n = 0;
  for (int number = 0; number < kMost; ++number) n += fcntl(number, F_GETFD) >= 0;
  return n;
}

namespace {

struct Mapping {
  uintptr_t first, end;
  uint64_t file;
  bool is_shareable;
};

std::vector<Mapping> mappings() {
  std::vector<Mapping> all;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, end = 0, file = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %lu", &first, &end, &file) != 3) continue;
    all.push_back({first, end, file, line.find("/memfd:arrowdevice") != std::string::npos});
  }
  return all;
}

}  // namespace

int64_t shared_mappings() { return std::ranges::count_if(mappings(), &Mapping::is_shareable); }

uint64_t file_at(const void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  for (const auto& one : mappings()) {
    if (one.first <= place && place < one.end) return one.file;
  }
  return 0;
}

int64_t mappings_of(uint64_t file) { return std::ranges::count(mappings(), file, &Mapping::file); }

int64_t shared_memory() {
  std::ifstream facts("/proc/meminfo");
  for (std::string line; std::getline(facts, line);) {
    if (line.rfind("Shmem:", 0) == 0) return std::stoll(line.substr(6)) * 1024;
  }
  return -1;
}

Pool make_shareable_pool(arrowdevice_device* device) {
  auto options = sized<arrowdevice_pool_options>();
  options.flags = ARROWDEVICE_POOL_SHAREABLE;
  return make_pool(device, &options);
}

int64_t used_bytes(const Pool& pool) { return stats(pool.get()).used_bytes; }

}  // namespace link_test
