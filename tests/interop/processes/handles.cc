// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "support/descriptors.h"

namespace {

using arrowdevice::testing::receive_with_descriptors;
using arrowdevice::testing::send_with_descriptors;

constexpr size_t kMostBytes = 1 << 20;

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "handle: %s\n", reason.c_str());
  std::exit(1);
}

}  // namespace

int receive_request(char name[LONGEST_NAME], int* batch) {
  std::array<char, LONGEST_NAME> request{};
  const ssize_t size = recv(STDIN_FILENO, request.data(), request.size() - 1, 0);
  if (size < 0) fail("no request was received");
  if (size == 0) return 0;
  static_assert(LONGEST_NAME == 512);
  if (std::sscanf(request.data(), "%511s %d", name, batch) != 2) fail("no request: " + std::string(request.data()));
  return 1;
}

void send_handle(const arrowdevice_ipc_handle* handle) {
  const std::span descriptors(handle->descriptors, static_cast<size_t>(handle->n_descriptors));
  const auto size = static_cast<size_t>(handle->size);
  if (!send_with_descriptors(STDIN_FILENO, handle->bytes, size, descriptors)) fail("a handle was not sent");
}

void request_array(const char* name, int batch, ArrowDeviceArray* out, ArrowSchema* type) {
  const std::string request = std::string(name) + " " + std::to_string(batch);
  if (send(STDIN_FILENO, request.data(), request.size(), MSG_NOSIGNAL) < 0) fail("a request was not sent");
  std::vector<uint8_t> bytes(kMostBytes);
  std::vector<int> descriptors;
  const size_t size = receive_with_descriptors(STDIN_FILENO, bytes.data(), bytes.size(), descriptors);
  if (size == 0) fail("no whole handle for " + request);
  arrowdevice_error error{};
  const int code =
      arrowdevice_array_open_ipc_handle(bytes.data(), static_cast<int64_t>(size), descriptors.data(),
                                        static_cast<int64_t>(descriptors.size()), nullptr, out, type, &error);
  for (const int descriptor : descriptors) close(descriptor);
  if (code != 0) fail(request + ": " + error.message);
}
