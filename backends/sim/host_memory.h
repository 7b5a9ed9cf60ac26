// SPDX-License-Identifier: Apache-2.0
// Host memory that the program registered with a device. The simulation only records it, and copies do not become
// faster.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "sim/statistics.h"

namespace arrowdevice::sim {

class HostMemory {
 public:
  explicit HostMemory(Statistics& statistics) : statistics_(statistics) {}

  struct Registration {
    void* base;
    int64_t size;
  };

  void add(void* memory, int64_t size);  // throws Error(EEXIST) if part of it is already registered
  void remove(void* memory);             // throws Error(EINVAL) if it is not the start of a registration
  std::optional<Registration> find(const void* pointer) const;

 private:
  Statistics& statistics_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, int64_t> sizes_;  // by start address
};

}  // namespace arrowdevice::sim
