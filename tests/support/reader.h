// SPDX-License-Identifier: Apache-2.0
// Reads host arrays in a slow and plain way: one value at a time, as the columnar format defines values. The
// reader is independent of the library, so that tests can compare returned data with the data that was sent.
//
//   REQUIRE(difference(schema, sent, schema, came_back) == "");            // logical equality
//   REQUIRE(difference(schema, sent, 5, schema, slice, 0, 10) == "");      // rows 5 .. 14 against rows 0 .. 9
//   REQUIRE(problem(schema, came_back) == "");                             // well-formed in every detail
//   INFO(text_of(schema, array));                                          // "[1, null, [\"a\"]]"
//
// Two arrays are equal if their rows have the same values. Values under nulls, slots outside the range, and
// the placement of list items, views and runs do not count. Offsets are honoured at every level.
// Floating-point numbers are compared bit by bit. Dictionaries are looked up, and are compared as a whole
// too, because no function of the library changes a dictionary.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/shape.h"

namespace arrowdevice::testing {

struct Value {
  enum class Kind { kNull, kBytes, kList, kStruct, kUnion };
  Kind kind = Kind::kNull;
  std::string bytes;            // value of a fixed-width or variable-size type
  bool is_text = false;         // `bytes` is printed as text
  int type_id = 0;              // type id of a union value
  std::vector<Value> children;  // children of a list or struct; the chosen child of a union

  bool operator==(const Value& other) const;
  std::string text() const;
};

// Reads a host array. The array and the schema must outlive the reader. Throws std::runtime_error if a value
// lies outside the array's slots, for example an offset beyond the child or an index beyond the dictionary.
class Reader {
 public:
  Reader(const ArrowSchema& schema, const ArrowArray& array);

  int64_t length() const noexcept { return array_->length; }
  bool is_null(int64_t row) const;  // as the validity bitmap says
  Value value(int64_t row) const;

  // Checks every rule of the format for this array and for all nodes below it: numbers of buffers and
  // children, true null counts, offsets that ascend and stay inside the child, and more. Throws
  // std::runtime_error with the path. Values under nulls and slots outside the range may hold anything.
  void check(const std::string& path) const;

  const ArrowArray& array() const noexcept { return *array_; }
  const Shape& shape() const noexcept { return shape_; }
  const std::string& name() const noexcept { return name_; }
  const std::vector<Reader>& children() const noexcept { return children_; }
  const Reader* dictionary() const noexcept { return dictionary_.empty() ? nullptr : &dictionary_.front(); }

 private:
  const void* buffer(int64_t canonical_index) const;
  int64_t integer(int64_t buffer_index, int width, int64_t slot) const;
  Value child_value(size_t child, int64_t row) const;
  size_t child_of_type_id(int64_t slot) const;
  int64_t run_of(int64_t slot) const;
  Value view_value(int64_t slot) const;
  void check_slots() const;
  void check_run_ends() const;

  Shape shape_;
  std::string name_;
  const ArrowArray* array_;
  int64_t skipped_ = 0;  // 1 if a legacy producer gives a validity buffer without meaning
  std::vector<Reader> children_;
  std::vector<Reader> dictionary_;  // zero or one reader
};

// Returns "" if `rows` rows of `a` from `a_row` on equal the rows of `b` from `b_row` on. Else returns the
// path and both values: "row 3: item[1].name: \"x\" against null". If an array is unreadable, returns the
// reason.
std::string difference(const ArrowSchema& a_schema, const ArrowArray& a, int64_t a_row, const ArrowSchema& b_schema,
                       const ArrowArray& b, int64_t b_row, int64_t rows);
// Compares all rows. Arrays of different lengths are different.
std::string difference(const ArrowSchema& a_schema, const ArrowArray& a, const ArrowSchema& b_schema,
                       const ArrowArray& b);

// Returns "" if the array is well-formed, else the problem and its path; see Reader::check().
std::string problem(const ArrowSchema& schema, const ArrowArray& array);

std::string text_of(const ArrowSchema& schema, const ArrowArray& array);

}  // namespace arrowdevice::testing
