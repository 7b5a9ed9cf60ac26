// SPDX-License-Identifier: Apache-2.0
// An array held against its schema: the structs fit, field by field. Looks at no data.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "schema/tree.h"

namespace arrowdevice::schema {

// The structs of an array, in the order of a Tree's fields. Borrows both.
class Binding {
 public:
  // Throws EINVAL, with the path of the child, for an array that does not fit: released, wrong numbers of buffers or
  // children, negative or overflowing lengths, missing buffers, children that are too short, cycles.
  Binding(const Tree& tree, const ArrowArray& root,
          std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

  const Tree& tree() const noexcept { return tree_; }
  const ArrowArray& operator[](int32_t field) const noexcept { return *at(field).array; }

  // A field's buffers in canonical order: what old producers put in front is left out.
  std::span<const void* const> buffers(int32_t field) const noexcept {
    return {at(field).buffers, static_cast<size_t>(buffer_count(field))};
  }

  // The one of a shape that is no kVariadic; NULL where the layout has none.
  const void* buffer(int32_t field, BufferShape shape) const noexcept;

  // How many these are, and over all fields: what an array that is written has as well.
  int64_t buffer_count(int32_t field) const noexcept { return info(field).fixed_buffers + n_variadic(field); }
  int64_t buffer_count() const noexcept { return buffer_count_; }

  // How many variadic buffers a field has; 0 where its layout has none.
  int64_t n_variadic(int32_t field) const noexcept {
    return info(field).is_variadic ? (*this)[field].n_buffers - info(field).fixed_buffers : 0;
  }
  bool has_variadic() const noexcept { return has_variadic_; }

  // The nulls of a field: 0 where the layout or a missing bitmap says so, -1 where nobody has counted.
  int64_t null_count(int32_t field) const noexcept { return at(field).null_count; }

  // Whether it is a plain field of the tree, with nothing amiss: two buffers, of slots so few that the number of their
  // bits is far from overflowing.
  bool is_plain(int32_t field) const noexcept { return at(field).is_plain; }

  // Whether there is a bitmap that has to be looked at.
  bool has_validity(int32_t field) const noexcept { return null_count(field) != 0 && info(field).has_validity; }

  // Whether a field is the run ends of its parent: these never have nulls.
  bool is_run_ends(int32_t field) const noexcept;

  // Throws EINVAL with the path of the field: whoever looks at the data tells what is wrong with it in the same way.
  [[noreturn, gnu::cold]] void refuse(int32_t field, const std::string& why) const;

 private:
  // A field's struct, with what its layout makes of it.
  struct Bound {
    const ArrowArray* array;
    const void* const* buffers;
    int64_t null_count;
    bool is_plain;
  };

  const Bound& at(int32_t field) const noexcept { return bound_[static_cast<size_t>(field)]; }
  const LayoutInfo& info(int32_t field) const noexcept { return tree_[field].type.info(); }

  void bind(int32_t field, const ArrowArray* array);
  bool bind_plain(int32_t field, const ArrowArray* array);
  void interpret(int32_t field);
  void count_buffers(int32_t field);
  void check_lengths(int32_t field) const;
  void check_buffer_count(int32_t field) const;
  void check_buffers(int32_t field) const;
  void check_children(int32_t field) const;
  void bind_children(int32_t field);
  void check_child_lengths(int32_t field) const;
  [[noreturn, gnu::cold]] void refuse_length(int32_t field, int64_t needed) const;

  const Tree& tree_;
  std::pmr::vector<Bound> bound_;
  int64_t buffer_count_ = 0;
  bool has_variadic_ = false;
};

// Returns the null count of some rows of a field: `length` of them, or all if `is_all`. 0 stays 0 and all stay all.
// Anything else is -1, unknown, unless the rows are all.
int64_t null_count_of_rows(const Binding& array, int32_t field, int64_t length, bool is_all);

}  // namespace arrowdevice::schema
