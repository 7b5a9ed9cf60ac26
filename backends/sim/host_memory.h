// SPDX-License-Identifier: Apache-2.0
// Host memory that the program registered with a device. Here it copies no faster; it is only kept account of.
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

  void add(void* memory, int64_t size);  // throws Error(EEXIST) if part of it is registered already
  void remove(void* memory);             // throws Error(EINVAL) if it is not the start of a registration
  std::optional<Registration> find(const void* pointer) const;

 private:
  Statistics& statistics_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, int64_t> sizes_;  // by start
};

}  // namespace arrowdevice::sim
