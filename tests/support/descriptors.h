// SPDX-License-Identifier: Apache-2.0
// Bytes and file descriptors that go through a Unix socket together, by one call.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace arrowdevice::testing {

inline constexpr size_t kMostDescriptors = 32;  // of a handle

union DescriptorControl {
  char bytes[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  cmsghdr aligned;
};

// Returns true if all bytes were sent.
inline bool send_with_descriptors(int socket, const void* bytes, size_t size, std::span<const int> descriptors) {
  DescriptorControl control{};
  iovec part{const_cast<void*>(bytes), size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

// Receives up to `size` bytes and their descriptors, which the caller closes. Returns the number of bytes, or 0 if the
// connection has ended, if there are no descriptors, or if something was cut off.
inline size_t receive_with_descriptors(int socket, void* bytes, size_t size, std::vector<int>& descriptors) {
  DescriptorControl control{};
  iovec part{bytes, size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = received > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return 0;
  descriptors.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  std::memcpy(descriptors.data(), CMSG_DATA(header), descriptors.size() * sizeof(int));
  return (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 ? static_cast<size_t>(received) : 0;
}

}  // namespace arrowdevice::testing
