// SPDX-License-Identifier: Apache-2.0
// Measures how long an array takes from one process to another: from the request to the array, and its release. No byte
// of the array is read.
//
//   meson devenv -C build bench/bench-handles
//
// `ratio` compares it with the same exchange without the library. The other process then sends one descriptor of a
// memfd, which this process maps, unmaps and closes.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arrowdevice/arrowdevice.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "calls.h"
#include "ratio.h"

namespace arrowdevice::bench {
namespace {

constexpr size_t kMostBytes = 4096;
constexpr size_t kMostDescriptors = 32;

void require(bool holds, const char* what) {
  if (!holds) give_up(what);
}

enum class Kind : int64_t { kAllocate, kHandle, kDescriptor };

struct Request {
  Kind kind;
  int64_t bytes;  // of the array, with kAllocate
};

struct Packet {
  uint8_t bytes[kMostBytes];
  size_t size;
  int descriptors[kMostDescriptors];
  size_t n_descriptors;
};

union Control {
  char bytes[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  cmsghdr aligned;
};

void send_packet(int socket, const void* bytes, size_t size, const int* descriptors, size_t n) {
  Control control{};
  iovec part{const_cast<void*>(bytes), size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(n * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(n * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors, n * sizeof(int));
  require(sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(size), "sendmsg failed");
}

void receive_packet(int socket, Packet& out) {
  Control control{};
  iovec part{out.bytes, sizeof out.bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  require(header != nullptr && header->cmsg_type == SCM_RIGHTS, "the other process has ended");
  out.size = static_cast<size_t>(size);
  out.n_descriptors = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  std::memcpy(out.descriptors, CMSG_DATA(header), out.n_descriptors * sizeof(int));
}

// The process that owns the arrays: a column of int64 in shareable memory.
class Owner {
 public:
  explicit Owner(int socket) : socket_(socket) {
    cpu_ = cpu();
    arrowdevice_pool_options options{};
    options.struct_size = sizeof options;
    options.flags = ARROWDEVICE_POOL_SHAREABLE;
    options.max_cached_bytes = -1;
    must(arrowdevice_pool_create, cpu_, &options, &pool_);
    schema_.format = "l";
    schema_.name = "number";
    schema_.release = [](ArrowSchema* schema) { schema->release = nullptr; };
  }

  void serve() {
    for (Request request{}; recv(socket_, &request, sizeof request, 0) == sizeof request;) {
      switch (request.kind) {
        case Kind::kAllocate: allocate(request.bytes); break;
        case Kind::kHandle: send_handle(); break;
        case Kind::kDescriptor: send_packet(socket_, "x", 1, &file_, 1); break;
      }
    }
  }

 private:
  void allocate(int64_t bytes) {
    if (array_.array.release != nullptr) arrowdevice_array_release(&array_);
    if (buffers_[1] != nullptr) arrowdevice_buffer_free(cpu_, nullptr, const_cast<void*>(buffers_[1]));
    void* memory = nullptr;
    must(arrowdevice_buffer_allocate, cpu_, pool_, nullptr, bytes, &memory);
    std::memset(memory, 1, static_cast<size_t>(bytes));
    buffers_[1] = memory;
    ArrowArray column{};
    column.length = bytes / 8;
    column.n_buffers = 2;
    column.buffers = buffers_;
    column.release = [](ArrowArray* array) { array->release = nullptr; };
    must(arrowdevice_array_from_host, &column, &array_);
    if (file_ >= 0) close(file_);
    file_ = memfd_create("bench", MFD_CLOEXEC);
    require(file_ >= 0 && ftruncate(file_, bytes) == 0, "there is no memfd");
    send_packet(socket_, "x", 1, &file_, 1);
  }

  void send_handle() {
    arrowdevice_ipc_handle handle{};
    must(arrowdevice_array_get_ipc_handle, &array_, &schema_, nullptr, &handle);
    require(handle.copied_bytes == 0, "the array was copied");
    send_packet(socket_, handle.bytes, static_cast<size_t>(handle.size), handle.descriptors,
                static_cast<size_t>(handle.n_descriptors));
    arrowdevice_ipc_handle_release(&handle);
  }

  const int socket_;
  arrowdevice_device* cpu_ = nullptr;
  arrowdevice_pool* pool_ = nullptr;
  ArrowSchema schema_{};
  ArrowDeviceArray array_{};
  const void* buffers_[2] = {nullptr, nullptr};
  int file_ = -1;
};

int socket_to_owner = -1;

void request(Kind kind, Packet& answer, int64_t bytes = 0) {
  const Request made{kind, bytes};
  require(send(socket_to_owner, &made, sizeof made, MSG_NOSIGNAL) == sizeof made, "the other process has ended");
  receive_packet(socket_to_owner, answer);
}

void close_descriptors(const Packet& packet) {
  for (size_t i = 0; i < packet.n_descriptors; ++i) close(packet.descriptors[i]);
}

void BM_ArrayToAnotherProcess(benchmark::State& state) {
  const int64_t bytes = state.range(0);
  Packet packet{};
  request(Kind::kAllocate, packet, bytes);
  close_descriptors(packet);
  compare(
      state, std::nullopt,
      [&] {
        request(Kind::kHandle, packet);
        ArrowDeviceArray array;
        ArrowSchema schema;
        must(arrowdevice_array_open_ipc_handle, static_cast<const uint8_t*>(packet.bytes),
             static_cast<int64_t>(packet.size), static_cast<const int*>(packet.descriptors),
             static_cast<int64_t>(packet.n_descriptors), nullptr, &array, &schema);
        close_descriptors(packet);
        arrowdevice_array_release(&array);
        arrowdevice_schema_release(&schema);
      },
      [&] {
        request(Kind::kDescriptor, packet);
        const auto size = static_cast<size_t>(bytes);
        void* const memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, packet.descriptors[0], 0);
        require(memory != MAP_FAILED && munmap(memory, size) == 0, "mmap failed");
        close_descriptors(packet);
      });
}
BENCHMARK(BM_ArrayToAnotherProcess)
    ->Name("array to another process")
    ->ArgName("bytes")
    ->Arg(64 << 10)
    ->Arg(64 << 20)
    ->Arg(int64_t{1} << 30)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace arrowdevice::bench

int main(int argc, char** argv) {
  using namespace arrowdevice::bench;  // NOLINT: the program's own
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "there is no socket");
  const pid_t owner = fork();
  require(owner >= 0, "there is no process");
  if (owner == 0) {
    close(ends[0]);
    Owner(ends[1]).serve();
    std::_Exit(0);
  }
  close(ends[1]);
  socket_to_owner = ends[0];
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
