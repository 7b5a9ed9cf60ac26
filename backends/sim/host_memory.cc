// SPDX-License-Identifier: Apache-2.0
#include "sim/host_memory.h"

#include <cerrno>
#include <iterator>

#include "base/error.h"

namespace arrowdevice::sim {

void HostMemory::add(void* memory, int64_t size) {
  if (memory == nullptr || size <= 0) {
    throw Error(EINVAL, format("%lld bytes of host memory at %p to register", static_cast<long long>(size), memory));
  }
  const auto start = reinterpret_cast<uintptr_t>(memory);
  const auto end = start + static_cast<uintptr_t>(size);
  const std::lock_guard lock(mutex_);
  const auto next = sizes_.lower_bound(end);
  if (next != sizes_.begin()) {
    const auto& [other, other_size] = *std::prev(next);
    if (other + static_cast<uintptr_t>(other_size) > start) {
      throw Error(EEXIST, format("host memory at %p is registered already", memory));
    }
  }
  sizes_.emplace(start, size);
  statistics_.update([](Counters& counters) {
    ++counters.host_registrations;
    ++counters.host_registrations_live;
  });
}

void HostMemory::remove(void* memory) {
  const std::lock_guard lock(mutex_);
  if (sizes_.erase(reinterpret_cast<uintptr_t>(memory)) == 0) {
    throw Error(EINVAL, format("host memory at %p is not registered", memory));
  }
  statistics_.update([](Counters& counters) { --counters.host_registrations_live; });
}

std::optional<HostMemory::Registration> HostMemory::find(const void* pointer) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(mutex_);
  const auto next = sizes_.upper_bound(address);
  if (next == sizes_.begin()) return std::nullopt;
  const auto& [start, size] = *std::prev(next);
  if (address - start >= static_cast<uintptr_t>(size)) return std::nullopt;
  return Registration{.base = reinterpret_cast<void*>(start), .size = size};
}

}  // namespace arrowdevice::sim
