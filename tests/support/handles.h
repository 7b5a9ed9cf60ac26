// SPDX-License-Identifier: Apache-2.0
// Owns the library's handles in tests: each handle is destroyed when its owner goes out of scope. A program
// that includes this header links the library.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <memory>

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

}  // namespace arrowdevice::testing
