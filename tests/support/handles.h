// SPDX-License-Identifier: Apache-2.0
// Owns the library's handles in tests: each handle is destroyed when its owner goes out of scope. A program
// that includes this header links the library.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <memory>
#include <vector>

#include "support/calls.h"

namespace arrowdevice::testing {

template <typename Handle, void (*kEnd)(Handle*)>
struct End {
  void operator()(Handle* handle) const noexcept { kEnd(handle); }
};
using Queue = std::unique_ptr<arrowdevice_queue, End<arrowdevice_queue, arrowdevice_queue_destroy>>;
using Pool = std::unique_ptr<arrowdevice_pool, End<arrowdevice_pool, arrowdevice_pool_destroy>>;
using View = std::unique_ptr<arrowdevice_view, End<arrowdevice_view, arrowdevice_view_release>>;

// Returns true if a view knows the size of every buffer at and below the node.
inline bool knows_all_sizes(const arrowdevice_node& node) {
  for (int32_t i = 0; i < node.n_buffers; ++i) {
    if ((node.buffers[i].flags & ARROWDEVICE_BUFFER_SIZE_KNOWN) == 0) return false;
  }
  for (int64_t i = 0; i < node.n_children; ++i) {
    if (!knows_all_sizes(*node.children[i])) return false;
  }
  return node.dictionary == nullptr || knows_all_sizes(*node.dictionary);
}

// Waits for all work, and trims the pools of all devices, so that a driver that checks for leaks when the process ends
// finds none, not even staging memory.
inline void trim_all() {
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  std::vector<arrowdevice_device*> devices;
  int64_t count = 0;
  do {  // a driver that has failed may work now
    devices.resize(static_cast<size_t>(count));
    must(arrowdevice_device_list, devices.data(), std::ssize(devices), &count);
  } while (count > std::ssize(devices));
  devices.resize(static_cast<size_t>(count));
  for (arrowdevice_device* const device : devices) {
    must(arrowdevice_pool_trim, output_of(arrowdevice_device_get_pool, device));
  }
}

}  // namespace arrowdevice::testing
