// SPDX-License-Identifier: Apache-2.0
#include "opencl/native_kernel.h"

#include <cstring>

#include "opencl/codes.h"

namespace arrowdevice::opencl {
namespace {

struct Header {
  std::byte* buffer;  // set by the driver
  size_t n;
};

struct Piece {
  size_t offset;
  std::byte* host;
  size_t size;
  bool to_host;
};

// Copies the value, because the driver may place the arguments at an unaligned address.
template <typename Value>
Value read(const std::byte* place) {
  Value value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

template <typename Value>
void append(std::vector<std::byte>& bytes, const Value& value) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

void CL_CALLBACK run(void* arguments) {
  const auto* const bytes = static_cast<const std::byte*>(arguments);
  const auto header = read<Header>(bytes);
  for (size_t i = 0; i < header.n; ++i) {
    const auto piece = read<Piece>(bytes + sizeof(Header) + i * sizeof(Piece));
    std::byte* const place = header.buffer + piece.offset;
    std::memcpy(piece.to_host ? piece.host : place, piece.to_host ? place : piece.host, piece.size);
  }
}

}  // namespace

NativeCopy::NativeCopy(size_t pieces) {
  arguments_.reserve(sizeof(Header) + pieces * sizeof(Piece));
  append(arguments_, Header{nullptr, pieces});
}

void NativeCopy::add(size_t offset, std::byte* host, size_t size, bool to_host) {
  append(arguments_, Piece{offset, host, size, to_host});
}

Owned<cl_event> NativeCopy::enqueue(cl_command_queue queue, cl_mem buffer) {
  const void* place_of_buffer = arguments_.data() + offsetof(Header, buffer);
  cl_event done = nullptr;
  check("clEnqueueNativeKernel", api().clEnqueueNativeKernel(queue, run, arguments_.data(), arguments_.size(), 1,
                                                             &buffer, &place_of_buffer, 0, nullptr, &done));
  return Owned<cl_event>::wrap(done);
}

}  // namespace arrowdevice::opencl
