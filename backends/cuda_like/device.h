// SPDX-License-Identifier: Apache-2.0
// Devices of the format, their memory, and peer access between them.
#pragma once

#include <arrowdevice/backend.h>

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

  // Returns true if the GPU has memory that other processes can open. A wrapped context has none: such memory belongs
  // to a GPU and not to a context, so locate() could not find it again.
  bool is_shareable() const noexcept {
    return kind_ == MemoryKind::kDevice && !gpu_.is_wrapped() && gpu_.properties().shareable_granularity > 0;
  }
  // Allocates such memory, which contains zeros. free() and free_after() free it, and free() closes memory of open().
  void* allocate_shareable(int64_t size, int64_t alignment);
  // Throws Error(EINVAL) for other memory.
  void describe(const void* memory, arrowdevice_memory_record& out);
  // Opens memory of another process.
  void* open(const arrowdevice_memory_record& record, int64_t& size);
  // Returns true if the GPU with that ordinal may use the memory at an address in place, because it is such memory.
  bool is_shared_with(int ordinal, const void* address);

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
  using Sizes = std::map<const char*, int64_t>;  // by address

  // Returns the GPUs that may use this GPU's memory in place, itself first.
  std::vector<int> users(Driver& driver) const;
  int64_t size_of_shareable(const void* memory);  // 0 for other memory
  void free_shareable(void* memory, int64_t size) noexcept;
  bool has(const Sizes& sizes, const void* address);
  void remember(const void* memory, int64_t size);
  void forget(const void* memory) noexcept;
  void wait_for_last_use(Driver& driver, Stream stream, void* memory);
  void free_unused();

  Gpu& gpu_;
  const MemoryKind kind_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;  // guarded by mutex_
  Sizes of_pool_;                 // guarded by mutex_
  Sizes shareable_;               // guarded by mutex_
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
