// SPDX-License-Identifier: Apache-2.0
// The memory of a copy, and its owner.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "array/output.h"
#include "device/deferred.h"
#include "device/event.h"
#include "device/pool.h"
#include "transfer/submit.h"

namespace arrowdevice::transfer {

// The memory of a copy. If it is released before the copy has finished, its destruction is deferred.
struct CopyMemory final : public device::Deferred {
  explicit CopyMemory(device::Device& device) : use(device) {}

  const device::DeviceUse use;  // outlives the memory
  device::Allocation allocation;
  uint64_t queue = 0;  // that may use the memory before `after` has fired, because it does the work
};

class CopyOwner final : public array::BufferOwner {
 public:
  explicit CopyOwner(std::unique_ptr<CopyMemory> memory) : memory_(std::move(memory)) {}
  ~CopyOwner() override {
    if (memory_ == nullptr) return;
    if (memory_->queue != 0) memory_->allocation.reset_behind(memory_->after, memory_->queue);
    device::DeferredWork::instance().defer(std::move(memory_));
  }

  CopyMemory& memory() noexcept { return *memory_; }
  PaddedBuffers padded() const noexcept {
    return {static_cast<const char*>(memory_->allocation.buffer()), ends_of_buffers};
  }
  std::unique_ptr<CopyMemory> take_memory() noexcept { return std::move(memory_); }

  // The event that the array carries; it lives as long as the array.
  std::shared_ptr<device::Event> event;
  // The ends of the buffers, for later copies to other devices.
  std::vector<int64_t> ends_of_buffers;
  // Sizes of variadic buffers, if they are not on the device.
  std::unique_ptr<uint8_t[]> host_bytes;

 private:
  std::unique_ptr<CopyMemory> memory_;
};

}  // namespace arrowdevice::transfer
