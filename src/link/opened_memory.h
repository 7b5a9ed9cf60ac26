// SPDX-License-Identifier: Apache-2.0
// Memory of other processes that this process has opened.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <memory>

#include "device/device.h"

namespace arrowdevice::link {

// An allocation of another process. The destructor closes it.
class OpenedMemory {
 public:
  OpenedMemory(device::Device& device, const arrowdevice_memory_record& record)
      : use_(device), device_(device), block_(device.memory_import(record)) {}
  virtual ~OpenedMemory() { device_.memory_close(block_.buffer); }
  OpenedMemory(const OpenedMemory&) = delete;
  OpenedMemory& operator=(const OpenedMemory&) = delete;

  void* buffer() const noexcept { return block_.buffer; }

  // Returns the bytes of the allocation, as the kernel or the driver reports them.
  int64_t size() const noexcept { return block_.size; }

 private:
  const device::DeviceUse use_;
  device::Device& device_;
  const device::ShareableBlock block_;
};

// Opens an allocation by its record. If this process has the same file open already, returns that object.
std::shared_ptr<OpenedMemory> open_memory(device::Device& device, const arrowdevice_memory_record& record);

}  // namespace arrowdevice::link
