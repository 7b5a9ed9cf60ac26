// SPDX-License-Identifier: Apache-2.0
// An array held against its schema: the structs fit, field by field. Looks at no data.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "schema/tree.h"

namespace arrowdevice::schema {

// The structs of an array, in the order of a Tree's fields. Borrows both.
class Binding {
 public:
  // Throws EINVAL, with the path of the child, for an array that does not fit: released, wrong numbers of buffers or
  // children, negative or overflowing lengths, missing buffers, children that are too short, cycles.
  Binding(const Tree& tree, const ArrowArray& root);

  const Tree& tree() const noexcept { return tree_; }
  const ArrowArray& operator[](int32_t field) const noexcept { return *arrays_[static_cast<size_t>(field)]; }

  // A field's buffers in canonical order: what old producers put in front is left out.
  std::span<const void* const> buffers(int32_t field) const noexcept;

  // How many variadic buffers a field has; 0 where its layout has none.
  int64_t n_variadic(int32_t field) const noexcept;

  // The nulls of a field: 0 where the layout or a missing bitmap says so, -1 where nobody has counted.
  int64_t null_count(int32_t field) const noexcept;

  // Whether there is a bitmap that has to be looked at.
  bool has_validity(int32_t field) const noexcept {
    return null_count(field) != 0 && tree_[field].type.info().has_validity;
  }

  // Whether a field is the run ends of its parent: these never have nulls.
  bool is_run_ends(int32_t field) const noexcept;

 private:
  void bind(int32_t field, const ArrowArray* array);
  void check_lengths(int32_t field) const;
  void check_buffers(int32_t field) const;
  void check_children(int32_t field) const;
  void check_child_lengths(int32_t field) const;
  [[noreturn]] void refuse(int32_t field, const std::string& why) const;

  const Tree& tree_;
  std::vector<const ArrowArray*> arrays_;
};

// How many buffers an array of this type has beyond the canonical ones without variadic ones; for arrays that are
// written.
int64_t canonical_buffer_count(const Type& type, int64_t n_variadic) noexcept;

}  // namespace arrowdevice::schema
