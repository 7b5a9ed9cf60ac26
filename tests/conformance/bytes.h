// SPDX-License-Identifier: Apache-2.0
// Declares buffers of a device and of the host that free themselves, and copies of bytes between them. None of this
// needs Arrow.
#pragma once

#include <vector>

#include "conformance/subject.h"

namespace arrowdevice::conformance {

using Bytes = std::vector<unsigned char>;

class DeviceBuffer {
 public:
  DeviceBuffer(arrowdevice_device* device, int64_t size, arrowdevice_pool* pool = nullptr,
               arrowdevice_queue* queue = nullptr);
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : device_(other.device_), memory_(std::exchange(other.memory_, nullptr)), size_(other.size_) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  ~DeviceBuffer() { arrowdevice_buffer_free(device_, nullptr, memory_); }

  void* get() const noexcept { return memory_; }
  int64_t size() const noexcept { return size_; }
  void free_after(arrowdevice_queue* queue) {
    arrowdevice_buffer_free(device_, queue, std::exchange(memory_, nullptr));
  }

 private:
  arrowdevice_device* device_;
  void* memory_ = nullptr;
  int64_t size_;
};

// Host memory that the device copies without a wait in the call: memory that its driver knows, if there is such memory.
class HostBuffer {
 public:
  HostBuffer(arrowdevice_device* of, int64_t size);
  HostBuffer(arrowdevice_device* of, const Bytes& bytes);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  unsigned char* data() const noexcept { return static_cast<unsigned char*>(memory_); }
  bool holds(const Bytes& bytes) const;

 private:
  arrowdevice_device* device_ = nullptr;  // the device of the memory
  void* context_ = nullptr;               // if it is Level Zero's: its context
  void* memory_ = nullptr;
};

// Return a region between host memory and a device. Neither function copies.
arrowdevice_copy_region region_in(arrowdevice_device* to, void* dst, int64_t dst_offset, const void* host,
                                  int64_t size);
arrowdevice_copy_region region_out(void* host, arrowdevice_device* from, const void* src, int64_t src_offset,
                                   int64_t size);

void enqueue(arrowdevice_queue* queue, const std::vector<arrowdevice_copy_region>& regions);
void finish(arrowdevice_queue* queue);

// Returns `size` bytes. The bytes differ from each other and from the bytes of another seed.
Bytes pattern(int64_t size, uint64_t seed = 1);

}  // namespace arrowdevice::conformance
