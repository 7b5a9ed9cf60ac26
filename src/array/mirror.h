// SPDX-License-Identifier: Apache-2.0
// Second owners: arrays whose structs are new and whose buffers are those of another array.
#pragma once

#include <memory>
#include <vector>

#include "array/keepers.h"
#include "schema/binding.h"
#include "transfer/output.h"

namespace arrowdevice::array {

// Copies the structs of an array, as they are, into a new output. Throws EINVAL for an array with NULL or released
// children, cycles, or more than the format's depth and this library's number of nodes.
std::unique_ptr<transfer::Output> mirror(const ArrowArray& root);

// Makes an array a co-owner: afterwards it is an output of this library, and its keeper can be shared.
class CoOwner {
 public:
  // Prepares; the array is untouched until commit().
  explicit CoOwner(ArrowDeviceArray& array);

  const std::shared_ptr<transfer::Keeper>& keeper() const noexcept { return keeper_; }

  void commit() noexcept;

 private:
  ArrowDeviceArray& array_;
  std::shared_ptr<transfer::Keeper> keeper_;
  ForeignKeeper* foreign_ = nullptr;          // NULL: the array is an output already
  std::unique_ptr<transfer::Output> output_;  // what takes its place
};

// A new array over chosen fields of an array and its schema: slices and projections.
class PartialMirror {
 public:
  // Room for the whole tree below each of `fields`, and for a root above them if `extra_nodes` is 1.
  PartialMirror(const schema::Binding& array, const std::vector<int32_t>& fields, int64_t extra_nodes);

  // Adds a field and all below it, from its own offset + `skip` on.
  ArrowArray& add(int32_t field, int64_t skip, int64_t length);

  transfer::Output& output() noexcept { return *output_; }

 private:
  ArrowArray& add_node(int32_t field);

  const schema::Binding& array_;
  std::unique_ptr<transfer::Output> output_;
};

// The fields of a tree below and with `field`, parents first.
std::vector<int32_t> subtree(const schema::Tree& tree, int32_t field);

}  // namespace arrowdevice::array
