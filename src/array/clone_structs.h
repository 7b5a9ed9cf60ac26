// SPDX-License-Identifier: Apache-2.0
// Second owners: arrays whose structs are new and whose buffers are those of another array.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>

#include "array/output.h"
#include "array/owners.h"
#include "schema/binding.h"

namespace arrowdevice::array {

// Copies the structs of an array, as they are, into a new output. Throws EINVAL for an array with NULL or released
// children, cycles, or more than the format's depth and this library's number of nodes.
Output clone_structs(const ArrowArray& root);

// Makes an array a co-owner: afterwards it is an output of this library, and its keeper can be shared.
class SharedArray {
 public:
  // Prepares; the array is untouched until commit().
  explicit SharedArray(ArrowDeviceArray& array);

  const std::shared_ptr<BufferOwner>& keeper() const noexcept { return keeper_; }

  void commit() noexcept;

 private:
  ArrowDeviceArray& array_;
  std::shared_ptr<BufferOwner> keeper_;
  ImportedOwner* foreign_ = nullptr;  // NULL: the array is an output already
  std::optional<Output> output_;      // what takes its place
};

// A new array over chosen fields of an array and its schema: slices and projections.
class ArraySlice {
 public:
  // Room for the whole tree below each of `fields`, and for a root above them if `extra_nodes` is 1. `memory` is for
  // what is needed while the array is made.
  ArraySlice(const schema::Binding& array, std::span<const int32_t> fields, int64_t extra_nodes,
             std::pmr::memory_resource* memory);

  // Adds a field and all below it, from its own offset + `skip` on.
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
