// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory of the machine, and its pools.
#include <algorithm>

#include "machine/machine.h"
#include "machine/violation.h"
#include "sim/handle.h"

namespace standin {

void* Machine::create_pool(int device) {
  const std::lock_guard lock(mutex_);
  void* const handle = arrowdevice::sim::new_handle();
  pools_.emplace(handle, std::make_shared<MemoryPool>(device));
  return handle;
}

void Machine::destroy_pool(void* handle) {
  const std::lock_guard lock(mutex_);
  if (pools_.erase(handle) == 0) violation("%p is not a live pool", handle);
}

MemoryPool& Machine::pool(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(handle);
  if (found == pools_.end()) violation("%p is not a live pool", handle);
  return *found->second;
}

int64_t Machine::pool_threshold(int device) const {
  const std::lock_guard lock(mutex_);
  const auto of_driver = default_pools_.find(device);
  int64_t largest = -1;
  for (const auto& [handle, pool] : pools_) {
    const bool is_of_driver = of_driver != default_pools_.end() && of_driver->second == handle;
    if (pool->device == device && !is_of_driver) largest = std::max(largest, static_cast<int64_t>(pool->threshold));
  }
  return largest;
}

void* Machine::default_pool(int device) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = default_pools_.find(device); found != default_pools_.end()) return found->second;
  }
  void* const handle = create_pool(device);
  const std::lock_guard lock(mutex_);
  return default_pools_[device] = handle;
}

std::shared_ptr<MemoryPool> Machine::pool_for(int device, void* handle) const {
  const auto found = pools_.find(handle);
  if (found == pools_.end()) violation("%p is not a live pool", handle);
  if (found->second->device != device) {
    violation("a stream of GPU %d allocates from a pool of GPU %d", device, found->second->device);
  }
  return found->second;
}

// The driver may do this if it reuses memory whose free is pending on another stream. The stand-in always does.
void Machine::wait_for_frees(Stream& on, MemoryPool& pool) {
  for (const auto& other : std::exchange(pool.freed_on, {})) {
    if (other.get() == &on || other->end == nullptr || other->end->finished()) continue;
    calls_.enter("inserted dependency");
    on.knows.merge(other->knows);
    submit(on, arrowdevice::sim::WaitWork{.fence = other->end});
  }
}

uintptr_t Machine::allocate_on(void* handle, size_t size, void* pool_handle) {
  const int device = device_of_stream(handle);
  if (pool_handle == nullptr) pool_handle = default_pool(device);
  const uintptr_t start = allocate(Kind::kDevice, device, size);
  const std::lock_guard lock(mutex_);
  const auto pool = pool_for(device, pool_handle);
  if (start == 0) return 0;
  const auto on = stream(handle);
  if (pool->waits_for_others) wait_for_frees(*on, *pool);
  auto& allocation = allocations_.at(start);
  allocation.pool = pool;
  allocation.made.set(on->id, ++on->work);
  on->knows.set(on->id, on->work);
  return start;
}

void Machine::free_on(void* handle, uintptr_t memory) {
  const std::lock_guard lock(mutex_);
  const auto on = stream(handle);
  const auto place = start_of(Kind::kDevice, memory);
  const Allocation& allocation = place->second;
  if (allocation.pool == nullptr) violation("plain memory at %#zx is freed in the order of a stream", memory);
  if (allocation.device != on->device) {
    violation("memory of GPU %d is freed on a stream of GPU %d", allocation.device, on->device);
  }
  if (!on->knows.covers(allocation.made, host_)) violation("memory at %#zx is freed before it is there", memory);
  if (!on->knows.covers(allocation.used, host_)) {
    violation("memory at %#zx is freed on a stream that does not wait for the work on it", memory);
  }
  allocation.pool->freed_on.push_back(on);
  bury(place);
}

bool Machine::is_shared_with(uintptr_t address, int device) const {
  const auto found = find(address);
  if (!found) return false;
  const bool is_of_pool = found->pool != nullptr && (found->device == device || found->pool->users.contains(device));
  return is_of_pool || found->users.contains(device);
}

}  // namespace standin
