// SPDX-License-Identifier: Apache-2.0
// Owners of the library's handles, for tests: destroyed when they go out of scope. What includes this links the
// library.
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

// Whether a view says of every buffer below the node how large it is.
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
