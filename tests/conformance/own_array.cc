// SPDX-License-Identifier: Apache-2.0
#include "conformance/own_array.h"

namespace arrowdevice::conformance {

namespace {

struct Holder {
  DeviceBuffer buffer;
  Releases releases;
  const void* buffers[2];
};

void release_holder(ArrowArray* array) {
  auto* holder = static_cast<Holder*>(array->private_data);
  ++*holder->releases;
  delete holder;
  array->release = nullptr;
}

}  // namespace

Owned<ArrowArray> array_over(DeviceBuffer buffer, int64_t rows, Releases releases) {
  void* memory = buffer.get();
  auto holder = std::make_unique<Holder>(Holder{std::move(buffer), std::move(releases), {nullptr, memory}});
  ArrowArray array{};
  array.length = rows;
  array.n_buffers = 2;
  array.buffers = holder->buffers;
  array.release = release_holder;
  array.private_data = holder.release();
  return Owned<ArrowArray>(array);
}

Bytes values_of(const ArrowArray& array) {
  const auto* bytes = static_cast<const unsigned char*>(array.buffers[1]);
  return Bytes(bytes + 4 * array.offset, bytes + 4 * (array.offset + array.length));
}

}  // namespace arrowdevice::conformance
