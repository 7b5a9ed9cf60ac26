// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kMostDescriptors = 32;

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "handle: %s\n", reason.c_str());
  std::exit(1);
}

void check_sent(ssize_t sent, size_t size) {
  if (sent != static_cast<ssize_t>(size)) fail("a packet was not sent");
}

}  // namespace

int receive_request(char name[LONGEST_NAME], int* batch) {
  std::array<char, LONGEST_NAME> request{};
  if (recv(STDIN_FILENO, request.data(), request.size() - 1, 0) <= 0) return 0;
  static_assert(LONGEST_NAME == 512);
  if (std::sscanf(request.data(), "%511s %d", name, batch) != 2) fail("no request: " + std::string(request.data()));
  return 1;
}

void send_handle(const arrowdevice_ipc_handle* handle) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  const size_t size = static_cast<size_t>(handle->n_descriptors) * sizeof(int);
  iovec bytes{const_cast<uint8_t*>(handle->bytes), static_cast<size_t>(handle->size)};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(size);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(header), handle->descriptors, size);
  check_sent(sendmsg(STDIN_FILENO, &message, MSG_NOSIGNAL), bytes.iov_len);
}

void request_array(const char* name, int batch, ArrowDeviceArray* out, ArrowSchema* type) {
  const std::string request = std::string(name) + " " + std::to_string(batch);
  check_sent(send(STDIN_FILENO, request.data(), request.size(), MSG_NOSIGNAL), request.size());
  std::vector<uint8_t> bytes(kMostBytes);
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) fail("no whole handle for " + request);
  std::vector<int> descriptors((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  std::memcpy(descriptors.data(), CMSG_DATA(header), descriptors.size() * sizeof(int));
  arrowdevice_error error{};
  const int code = arrowdevice_array_open_ipc_handle(
      bytes.data(), size, descriptors.data(), static_cast<int64_t>(descriptors.size()), nullptr, out, type, &error);
  for (const int descriptor : descriptors) close(descriptor);
  if (code != 0) fail(request + ": " + error.message);
}
