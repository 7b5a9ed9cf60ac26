// SPDX-License-Identifier: Apache-2.0
// Host arrays read the slow and plain way: one value at a time, as the columnar format defines values. Independent of
// the library, so that tests can ask whether what came back means the same as what was sent.
//
//   REQUIRE(difference(schema, sent, schema, came_back) == "");            // logical equality
//   REQUIRE(difference(schema, sent, 5, schema, slice, 0, 10) == "");      // rows 5 .. 14 against rows 0 .. 9
//   REQUIRE(problem(schema, came_back) == "");                             // well-formed in every detail
//   INFO(text_of(schema, array));                                          // "[1, null, [\"a\"]]"
//
// Two arrays are the same when their rows have the same values: values under nulls, slots outside of the range, the
// placing of list items, views and runs do not count, offsets are honoured at every level. Floating-point numbers are
// compared bit by bit. Dictionaries are looked up, and are compared as a whole too: none of the library's functions
// changes one.
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
  std::string bytes;            // of fixed-width and variable-size values
  bool is_text = false;         // how to print `bytes`
  int type_id = 0;              // of unions
  std::vector<Value> children;  // of lists, structs; of unions the one chosen

  bool operator==(const Value& other) const;
  std::string text() const;
};

// Reads a host array. The array and the schema must outlive it. A value that lies where the array has no slot (an
// offset beyond the child, an index beyond the dictionary) is a std::runtime_error.
class Reader {
 public:
  Reader(const ArrowSchema& schema, const ArrowArray& array);

  int64_t length() const noexcept { return array_->length; }
  bool is_null(int64_t row) const;  // as the validity bitmap says
  Value value(int64_t row) const;

  // Everything that the format demands of this array and of what is below it: numbers of buffers and children,
  // null counts that are true, offsets that ascend and stay inside the child, ... Throws std::runtime_error with the
  // path. Values under nulls and slots outside of the range are free.
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
  int64_t skipped_ = 0;  // a validity buffer that legacy producers give and that means nothing
  std::vector<Reader> children_;
  std::vector<Reader> dictionary_;  // none or one
};

// "" if `rows` rows from row `a_row` of `a` on mean the same as those from `b_row` of `b` on, else the place and both
// values: "row 3: item[1].name: \"x\" against null". Also says what makes one of them unreadable.
std::string difference(const ArrowSchema& a_schema, const ArrowArray& a, int64_t a_row, const ArrowSchema& b_schema,
                       const ArrowArray& b, int64_t b_row, int64_t rows);
// As above, all rows; arrays of another length are different.
std::string difference(const ArrowSchema& a_schema, const ArrowArray& a, const ArrowSchema& b_schema,
                       const ArrowArray& b);

// "" if the array is well-formed, else what is wrong and where; see Reader::check().
std::string problem(const ArrowSchema& schema, const ArrowArray& array);

std::string text_of(const ArrowSchema& schema, const ArrowArray& array);

}  // namespace arrowdevice::testing
