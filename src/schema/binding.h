// SPDX-License-Identifier: Apache-2.0
// Binds an array to its schema: checks that the structs match, field by field. Reads no data.
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
  // Throws EINVAL, with the path of the child, if the array does not match. Examples are a released array, wrong
  // numbers of buffers or children, negative or overflowing lengths, missing buffers, children that are too short, and
  // cycles.
  Binding(const Tree& tree, const ArrowArray& root,
          std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

  const Tree& tree() const noexcept { return tree_; }
  const ArrowArray& operator[](int32_t field) const noexcept { return *at(field).array; }

  // Returns a field's buffers in canonical order, without the bitmap that old producers put in front.
  std::span<const void* const> buffers(int32_t field) const noexcept {
    return {at(field).buffers, static_cast<size_t>(buffer_count(field))};
  }

  // Returns the buffer of a shape other than kVariadic, or NULL if the layout has none.
  const void* buffer(int32_t field, BufferShape shape) const noexcept;

  // Returns the number of buffers of a field, or of all fields. An array that is written has the same number.
  int64_t buffer_count(int32_t field) const noexcept { return info(field).fixed_buffers + n_variadic(field); }
  int64_t buffer_count() const noexcept { return buffer_count_; }

  // Returns the number of variadic buffers of a field, or 0 if its layout has none.
  int64_t n_variadic(int32_t field) const noexcept {
    return info(field).is_variadic ? (*this)[field].n_buffers - info(field).fixed_buffers : 0;
  }
  bool has_variadic() const noexcept { return has_variadic_; }

  // Returns the null count of a field. The count is 0 if the layout has no nulls or the bitmap is missing, and -1 if
  // the nulls are not counted.
  int64_t null_count(int32_t field) const noexcept { return at(field).null_count; }

  // Returns true if the field is plain and passed the short check. It then has two buffers, and so few slots that the
  // number of their bits cannot overflow.
  bool is_plain(int32_t field) const noexcept { return at(field).is_plain; }

  // Returns true if the field has a bitmap that must be read.
  bool has_validity(int32_t field) const noexcept { return null_count(field) != 0 && info(field).has_validity; }

  // Returns true if the field is the run ends of its parent, which never have nulls.
  bool is_run_ends(int32_t field) const noexcept;

  // Throws EINVAL with the path of the field. Code that checks the data reports errors in the same form.
  [[noreturn, gnu::cold]] void refuse(int32_t field, const std::string& why) const;

 private:
  // A field's struct, as its layout defines it.
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

// Returns the null count of some rows of a field: `length` rows, or all rows if `is_all` is true. A count of 0 stays 0,
// and if all slots are null, all rows are. Other counts become -1, unknown, unless `is_all` is true.
int64_t null_count_of_rows(const Binding& array, int32_t field, int64_t length, bool is_all);

}  // namespace arrowdevice::schema
