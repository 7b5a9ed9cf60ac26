// SPDX-License-Identifier: Apache-2.0
// New owners of an array's memory: arrays with new structs and the buffers of another array.
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

// Copies the structs of an array, unchanged, into a new output. Throws EINVAL if the array has NULL or released
// children, cycles, too many levels or too many nodes. The format limits the levels, and this library limits the nodes.
Output clone_structs(const ArrowArray& root);

// Makes an array a shared owner: afterwards the array is an output of this library, and its owner can be shared.
class SharedArray {
 public:
  // Prepares the change. The array is unchanged until commit().
  explicit SharedArray(ArrowDeviceArray& array);

  const std::shared_ptr<BufferOwner>& owner() const noexcept { return owner_; }

  void commit() noexcept;

 private:
  ArrowDeviceArray& array_;
  std::shared_ptr<BufferOwner> owner_;
  ImportedOwner* foreign_ = nullptr;  // NULL: the array is an output already
  std::optional<Output> output_;      // the replacement of the array
};

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
