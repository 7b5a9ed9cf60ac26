// SPDX-License-Identifier: Apache-2.0
#include "support/snapshot.h"

#include <algorithm>
#include <utility>

namespace arrowdevice::testing {

namespace {

std::vector<const void*> buffers_of(const ArrowArray& array) {
  return std::vector<const void*>(array.buffers, array.buffers + array.n_buffers);
}
std::vector<const void*> buffers_of(const ArrowSchema&) { return {}; }

void put_back(const std::vector<const void*>& buffers, const ArrowArray& array) {
  std::ranges::copy(buffers, array.buffers);
}
void put_back(const std::vector<const void*>&, const ArrowSchema&) {}

}  // namespace

template <typename Struct>
Snapshot<Struct>::Snapshot(Struct& root) {
  remember(root);
}

template <typename Struct>
void Snapshot<Struct>::remember(Struct& one) {
  structs_.push_back({&one, one, buffers_of(one), std::vector<Struct*>(one.children, one.children + one.n_children)});
  for (int64_t i = 0; i < one.n_children; ++i) remember(*one.children[i]);
  if (one.dictionary != nullptr) remember(*one.dictionary);
}

template <typename Struct>
void Snapshot<Struct>::restore() const {
  for (const One& one : structs_) {
    *one.place = one.was;
    put_back(one.buffers, one.was);
    std::ranges::copy(one.children, one.was.children);
  }
}

template class Snapshot<ArrowArray>;
template class Snapshot<ArrowSchema>;

}  // namespace arrowdevice::testing
