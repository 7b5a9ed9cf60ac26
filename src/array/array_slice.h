// SPDX-License-Identifier: Apache-2.0
// Arrays of some rows and columns of another array, over the same buffers.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>

#include "array/output.h"
#include "schema/binding.h"

namespace arrowdevice::array {

// A new array of chosen fields of an array and its schema: slices and projections.
class ArraySlice {
 public:
  // Allocates memory for the whole trees of `fields`, and for a root above them if `extra_nodes` is 1. `memory`
  // provides temporary memory.
  ArraySlice(const schema::Binding& array, std::span<const int32_t> fields, int64_t extra_nodes,
             std::pmr::memory_resource* memory);

  // Adds a field and its descendants, from its own offset + `skip` on.
  ArrowArray& add(int32_t field, int64_t skip, int64_t length);

  Output& output() noexcept { return output_; }

 private:
  ArrowArray& add_node(int32_t field);
  ArrowArray& add_tree(int32_t root);

  const schema::Binding& array_;
  std::pmr::memory_resource* const memory_;
  Output output_;
};

}  // namespace arrowdevice::array
