// SPDX-License-Identifier: Apache-2.0
// Devices of the format, their memory, and peer access between them.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "cuda_like/gpu.h"

namespace arrowdevice::cuda_like {

class Queue;

// Memory of a device. It is allocated and freed in stream order if the GPU supports that. All functions are
// thread-safe.
class Memory {
 public:
  Memory(Gpu& gpu, MemoryKind kind) : gpu_(gpu), kind_(kind) {}

  // Returns memory that every stream can use. If the memory is stream-ordered and `queue` is not NULL, only the queue
  // can use it, after its work so far. Throws Error(ENOMEM), and Error(EBUSY) if the queue is being captured.
  void* allocate(const Queue* queue, int64_t size, int64_t alignment);

  // Frees memory that no work uses.
  void free(void* memory) noexcept;

  // Frees memory that the work of the queue so far may still use. Does not block.
  void free_after(const Queue& queue, void* memory) noexcept;

  // Waits until the work on all freed memory has finished, and then frees the memory. Throws if the driver does not
  // confirm that the work has finished.
  void free_all();

  // Returns true if allocate() returns memory of the GPU's pool.
  bool is_stream_ordered() const noexcept { return kind_ == MemoryKind::kDevice && gpu_.has_pool(); }

  // Returns true if the address is in memory of the GPU's pool.
  bool is_of_pool(const void* address);

 private:
  // Memory that the library frees when its last use has finished, because the driver frees only immediately.
  struct Waiting {
    NativeEvent last_use;
    void* memory;
  };

  void check_alignment(const void* memory, int64_t alignment) const;
  void remember(const void* memory, int64_t size);
  void forget(const void* memory) noexcept;
  void wait_for_last_use(Driver& driver, Stream stream, void* memory);
  void free_unused();

  Gpu& gpu_;
  const MemoryKind kind_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;            // guarded by mutex_
  std::map<const char*, int64_t> of_pool_;  // sizes by address; guarded by mutex_
};

// A device of the format: one kind of memory of one GPU. Lives as long as the process. All functions are thread-safe.
struct Device {
  Device(Gpu& its_gpu, MemoryKind its_kind, ArrowDeviceType its_type)
      : gpu(its_gpu), kind(its_kind), type(its_type), memory(its_gpu, its_kind) {}

  Gpu& gpu;
  const MemoryKind kind;
  const ArrowDeviceType type;
  Memory memory;

  // Returns true if the CPU can use the memory in place.
  bool is_host_readable() const noexcept {
    return kind == MemoryKind::kPinned || (kind == MemoryKind::kManaged && gpu.properties().shares_managed_memory);
  }
};

// Returns the ARROWDEVICE_PEER_* flags between two devices. NULL is the host.
uint32_t peer_flags(const Device* from, const Device* to);

}  // namespace arrowdevice::cuda_like
