// SPDX-License-Identifier: Apache-2.0
#include "level_zero/shareable.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file_descriptor.h"
#include "base/regions.h"
#include "level_zero/queue.h"

namespace arrowdevice::level_zero {
namespace {

constexpr int64_t kZerosAlignment = 64;
constexpr int64_t kPage = 4096;

void check_is_shareable(const Device& device) {
  if (device.is_shareable()) return;
  throw Error(ENOTSUP, device.properties().name + " has no memory that other processes can open");
}

// Host memory of zeros, whose copies may be pending when a failed call returns.
class Zeros {
 public:
  Zeros(Device& device, int64_t size) : device_(device), memory_(device.allocate_host(size, kZerosAlignment)) {
    std::memset(memory_, 0, static_cast<size_t>(size));
  }
  ~Zeros() {
    if (memory_ != nullptr) device_.free(memory_);
  }
  Zeros(const Zeros&) = delete;

  void* memory() const noexcept { return memory_; }
  void free_behind(Queue& queue) noexcept { queue.free_behind(std::exchange(memory_, nullptr)); }

 private:
  Device& device_;
  void* memory_;
};

}  // namespace

void* allocate_shareable(Device& device, int64_t size, int64_t alignment) {
  check_is_shareable(device);
  ze_external_memory_export_desc_t exported{};
  exported.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC;
  exported.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  // The driver does not promise zeros.
  Zeros zeros(device, std::min(size, kZeroBlockBytes));
  Queue queue(device);
  void* const memory = device.allocate_extended(size, alignment, &exported);
  try {
    queue.copy(regions_of_zeros(&device, memory, size, zeros.memory()));
    queue.record()->wait(ARROWDEVICE_NO_TIMEOUT);
  } catch (...) {
    queue.free_behind(memory);
    zeros.free_behind(queue);
    throw;
  }
  return memory;
}

// The driver keeps its descriptor.
void describe_shareable(Device& device, const void* memory, arrowdevice_memory_record& out) {
  ze_external_memory_export_fd_t exported{};
  exported.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD;
  exported.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  exported.fd = -1;
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  properties.pNext = &exported;
  size_t size = 0;
  device.physical().use([&] {
    auto* const context = device.context().native();
    check("zeMemGetAllocProperties", api().zeMemGetAllocProperties(context, memory, &properties, nullptr));
    check("zeMemGetAddressRange", api().zeMemGetAddressRange(context, memory, nullptr, &size));
  });
  if (exported.fd < 0) throw Error(EINVAL, format("%p is not memory that other processes can open", memory));
  auto descriptor = FileDescriptor::duplicate_of(exported.fd);
  if (!descriptor) throw Error(errno, format("a descriptor of device memory: %s", std::strerror(errno)));
  out.kind = ARROWDEVICE_MEMORY_DESCRIPTOR;
  out.descriptor = descriptor.release();
  out.size = static_cast<int64_t>(size);
}

// The kernel knows the size of a DMA buffer. Drivers ignore the size of the request.
void* open_shared(Device& device, const arrowdevice_memory_record& record, int64_t& size) {
  check_is_shareable(device);
  if (record.kind != ARROWDEVICE_MEMORY_DESCRIPTOR || record.descriptor < 0) {
    throw Error(EINVAL, format("device memory is opened by a descriptor, and the record has kind %d", record.kind));
  }
  const int64_t there = ::lseek(record.descriptor, 0, SEEK_END);
  if (there <= 0) throw Error(EINVAL, format("descriptor %d is no memory of a device", record.descriptor));
  ze_external_memory_import_fd_t imported{};
  imported.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD;
  imported.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  imported.fd = record.descriptor;
  void* memory = nullptr;
  try {
    memory = device.allocate_extended(there, kPage, &imported);
  } catch (const Error& error) {
    if (error.native_code() != ZE_RESULT_ERROR_INVALID_ARGUMENT) throw;
    throw Error(EINVAL, format("descriptor %d is no memory of a device", record.descriptor), {}, error.native_code());
  }
  size = there;
  return memory;
}

}  // namespace arrowdevice::level_zero
