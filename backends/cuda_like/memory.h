// SPDX-License-Identifier: Apache-2.0
// Memory of a device: got from its driver and given back, in the order of a stream where the GPU has that.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda_like/gpu.h"

namespace arrowdevice::cuda_like {

// Thread-safety: free.
class Memory {
 public:
  Memory(Gpu& gpu, MemoryKind kind) : gpu_(gpu), kind_(kind) {}

  // Usable on every stream. Throws Error(ENOMEM).
  void* allocate(int64_t size, int64_t alignment);

  // Nothing uses it.
  void free(void* memory) noexcept;

  // What is enqueued on the stream so far may use it. Does not block.
  void free_after(Stream stream, void* memory) noexcept;

  // Waits for the work on what is freed, and gives it back. Throws if the driver does not say that the work is over.
  void free_all();

 private:
  // Memory that the driver takes back at once only, until its last use is over.
  struct Waiting {
    NativeEvent last_use;
    void* memory;
  };

  bool is_stream_ordered() const noexcept {
    return kind_ == MemoryKind::kDevice && gpu_.properties().has_stream_ordered_memory;
  }
  void free_to_driver(Driver& driver, void* memory);
  void wait_for_last_use(Driver& driver, Stream stream, void* memory);
  void free_what_is_over();

  Gpu& gpu_;
  const MemoryKind kind_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;  // guarded by mutex_
};

}  // namespace arrowdevice::cuda_like
