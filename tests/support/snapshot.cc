// SPDX-License-Identifier: Apache-2.0
#include "support/snapshot.h"

#include <algorithm>
#include <utility>

namespace arrowdevice::testing {

ArraySnapshot::ArraySnapshot(ArrowArray& root) { remember(root); }

void ArraySnapshot::remember(ArrowArray& array) {
  One one{&array, array, {}, {}};
  for (int64_t i = 0; i < array.n_buffers; ++i) one.buffers.push_back(array.buffers[i]);
  for (int64_t i = 0; i < array.n_children; ++i) one.children.push_back(array.children[i]);
  structs_.push_back(std::move(one));
  for (int64_t i = 0; i < array.n_children; ++i) remember(*array.children[i]);
  if (array.dictionary != nullptr) remember(*array.dictionary);
}

void ArraySnapshot::restore() const {
  for (const One& one : structs_) {
    *one.place = one.was;
    std::ranges::copy(one.buffers, one.was.buffers);
    std::ranges::copy(one.children, one.was.children);
  }
}

SchemaSnapshot::SchemaSnapshot(ArrowSchema& root) { remember(root); }

void SchemaSnapshot::remember(ArrowSchema& schema) {
  One one{&schema, schema, {}};
  for (int64_t i = 0; i < schema.n_children; ++i) one.children.push_back(schema.children[i]);
  structs_.push_back(std::move(one));
  for (int64_t i = 0; i < schema.n_children; ++i) remember(*schema.children[i]);
  if (schema.dictionary != nullptr) remember(*schema.dictionary);
}

void SchemaSnapshot::restore() const {
  for (const One& one : structs_) {
    *one.place = one.was;
    std::ranges::copy(one.children, one.was.children);
  }
}

}  // namespace arrowdevice::testing
