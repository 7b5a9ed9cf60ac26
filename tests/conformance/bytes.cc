// SPDX-License-Identifier: Apache-2.0
#include "conformance/bytes.h"

#include <algorithm>
#include <string_view>

#include "conformance/level_zero.h"

namespace arrowdevice::conformance {

DeviceBuffer::DeviceBuffer(arrowdevice_device* device, int64_t size, arrowdevice_pool* pool, arrowdevice_queue* queue)
    : device_(device), size_(size) {
  must(arrowdevice_buffer_allocate, device, pool, queue, size, &memory_);
  expect(memory_ != nullptr, "a buffer that is NULL");
}

HostBuffer::HostBuffer(arrowdevice_device* of, int64_t size) {
  const auto info = describe(of);
  if (const LevelZero ze; std::string_view(info.backend) == "level_zero" && ze.is_complete()) {
    context_ = output_of(arrowdevice_device_get_native, of).context;
    memory_ = ze.allocate_host(context_, size);
  } else {
    device_ = info.staging_type != 0 ? output_of(arrowdevice_device_find_by_id, info.staging_type, info.device_id)
                                     : output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, int64_t{-1});
    must(arrowdevice_buffer_allocate, device_, nullptr, nullptr, size, &memory_);
  }
  std::fill_n(data(), size, static_cast<unsigned char>(0));
}

HostBuffer::HostBuffer(arrowdevice_device* of, const Bytes& bytes)
    : HostBuffer(of, static_cast<int64_t>(bytes.size())) {
  std::ranges::copy(bytes, data());
}

HostBuffer::~HostBuffer() {
  if (context_ != nullptr) {
    LevelZero().free(context_, memory_);
  } else {
    arrowdevice_buffer_free(device_, nullptr, memory_);
  }
}

bool HostBuffer::holds(const Bytes& bytes) const { return std::equal(bytes.begin(), bytes.end(), data()); }

arrowdevice_copy_region region_in(arrowdevice_device* to, void* dst, int64_t dst_offset, const void* host,
                                  int64_t size) {
  arrowdevice_copy_region region{};
  region.dst_device = to;
  region.dst = dst;
  region.dst_offset = dst_offset;
  region.src = host;
  region.size = size;
  return region;
}

arrowdevice_copy_region region_out(void* host, arrowdevice_device* from, const void* src, int64_t src_offset,
                                   int64_t size) {
  arrowdevice_copy_region region{};
  region.dst = host;
  region.src_device = from;
  region.src = src;
  region.src_offset = src_offset;
  region.size = size;
  return region;
}

void enqueue(arrowdevice_queue* queue, const std::vector<arrowdevice_copy_region>& regions) {
  must(arrowdevice_queue_copy, queue, regions.data(), static_cast<int64_t>(regions.size()));
}

void finish(arrowdevice_queue* queue) { must(arrowdevice_queue_finish, queue, ARROWDEVICE_NO_TIMEOUT); }

Bytes pattern(int64_t size, uint64_t seed) {
  testing::Random random(seed);
  Bytes bytes(static_cast<size_t>(size));
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random.next());
  return bytes;
}

}  // namespace arrowdevice::conformance
