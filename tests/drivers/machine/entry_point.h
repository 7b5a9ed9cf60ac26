// SPDX-License-Identifier: Apache-2.0
// Common code of the entry points of all stand-ins.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/machine.h"
#include "machine/violation.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

// Counts the call of an entry point. Defines `kCall`, `gpus`, and `failing`, the code of a planned failure or 0.
#define ENTER(call)                   \
  constexpr const char* kCall = call; \
  int failing = 0;                    \
  [[maybe_unused]] standin::Machine& gpus = standin::machine(kCall, &failing)

namespace standin {

// Returns an address or a handle as a number.
inline uintptr_t value_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Ends the process if there is no such GPU.
inline void check_device(const Machine& gpus, int device, const char* call) {
  if (device < 0 || device >= gpus.devices()) violation("%s: there is no device %d", call, device);
}

// Ends the process unless virtual memory can have the size, or can be at the address.
inline void check_granularity(uintptr_t value, const char* call) {
  if (value == 0 || value % Machine::kGranularity != 0) {
    violation("%s: %#zx is no multiple of the granularity", call, value);
  }
}

}  // namespace standin
