// SPDX-License-Identifier: Apache-2.0
// Copies of large arrays between pageable host memory and a GPU.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cstdlib>
#include <utility>

#include "drivers/vendor.h"
#include "support/calls.h"
#include "support/handles.h"

namespace drivers {

using arrowdevice::testing::Owned;

inline void use_threads(const char* n) { ::setenv("ARROWDEVICE_COPY_THREADS", n, 1); }

inline arrowdevice_device* device(ArrowDeviceType type, int64_t id = 0) {
  return output_of(arrowdevice_device_find_by_id, type, id);
}

// Returns the bytes that a device has copied through staging memory after the last call.
inline int64_t staged_since(arrowdevice_device* on) {
  static int64_t before = 0;
  auto counters = output_of(arrowdevice_device_get_counters, on);
  return counters.staged_bytes - std::exchange(before, counters.staged_bytes);
}

inline Owned<ArrowDeviceArray> copy(ArrowDeviceArray* array, const ArrowSchema& schema, arrowdevice_device* to,
                                    uint32_t flags = 0, arrowdevice_queue* queue = nullptr) {
  auto options = sized<arrowdevice_copy_options>();
  options.flags = flags;
  options.queue = queue;
  Owned<ArrowDeviceArray> out;
  arrowdevice_error error{};
  expect(arrowdevice_array_copy(array, &schema, to, &options, out.out(), &error) == 0, error.message);
  return out;
}

}  // namespace drivers
