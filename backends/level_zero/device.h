// SPDX-License-Identifier: Apache-2.0
// Contexts and their devices, the memory of both, and peer access between devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "level_zero/api.h"
#include "level_zero/events.h"
#include "level_zero/pending_completions.h"
#include "level_zero/physical_device.h"

namespace arrowdevice::level_zero {

// A context: all memory, queues and events that can be used together. Lives as long as the process, like the driver's
// context unless the application owns it. All functions are
// thread-safe.
class Context {
 public:
  explicit Context(ze_context_handle_t native) noexcept : native_(native), events_(native) {}

  ze_context_handle_t native() const noexcept { return native_; }
  Events& events() noexcept { return events_; }
  PendingCompletions& unfinished() noexcept { return unfinished_; }

  // Removes the library's objects from a wrapped context that the application unwraps. Returns false if the driver does
  // not confirm that work has finished. The application may wrap the context again later.
  bool leave(PhysicalDevice& user) noexcept {
    if (!unfinished_.drain()) return false;
    if (!user.is_lost()) events_.destroy(user);
    return true;
  }

 private:
  const ze_context_handle_t native_;
  Events events_;
  PendingCompletions unfinished_;
};

// The allocation of an address in a context.
struct Allocation {
  ze_memory_type_t type;
  ze_device_handle_t device;  // NULL for host memory
  void* base;
  size_t size;

  // Returns true if `size_of_part` bytes at `address` lie within the allocation.
  bool has(const void* address, size_t size_of_part) const noexcept;
};

// Returns nullopt for memory of another context and for memory that the driver did not allocate.
std::optional<Allocation> find_allocation(ze_context_handle_t context, const void* address);

// The kind of memory that the library allocates. Foreign arrays may use any kind.
enum class MemoryKind { kDevice, kHost, kShared };

// Returns the kind named by ARROWDEVICE_LEVEL_ZERO_MEMORY. Throws EINVAL for an unknown word.
MemoryKind chosen_memory_kind();

// A device of the driver in one context. Lives as long as the process. All functions are thread-safe.
class Device {
 public:
  Device(Context& context, PhysicalDevice& physical, MemoryKind kind) noexcept
      : context_(context), physical_(physical), kind_(kind) {}

  Context& context() const noexcept { return context_; }
  PhysicalDevice& physical() const noexcept { return physical_; }
  const Properties& properties() const noexcept { return physical_.properties(); }

  void* allocate(int64_t size, int64_t alignment);

  // Returns true if other processes can open memory of the device.
  bool is_shareable() const noexcept { return kind_ == MemoryKind::kDevice && properties().shares_memory; }
  // Allocates device memory. `extension` continues the chain of ze_device_mem_alloc_desc_t.
  void* allocate_extended(int64_t size, int64_t alignment, const void* extension);

  // Allocates USM of the host, which all devices of the context copy fast.
  void* allocate_host(int64_t size, int64_t alignment);

  // Frees memory that no work uses.
  void free(void* memory) noexcept;

 private:
  void* allocate(MemoryKind kind, int64_t size, int64_t alignment, const void* extension = nullptr);

  Context& context_;
  PhysicalDevice& physical_;
  const MemoryKind kind_;
};

// Returns the ARROWDEVICE_PEER_* flags between two devices. NULL is the host.
uint32_t peer_flags(const Device* from, const Device* to);

}  // namespace arrowdevice::level_zero
