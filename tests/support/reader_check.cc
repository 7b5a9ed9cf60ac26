// SPDX-License-Identifier: Apache-2.0
// Checks the format's rules for an array, apart from its values.
#include <stdexcept>

#include "support/reader.h"

namespace arrowdevice::testing {

namespace {

void demand(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

std::string text(int64_t number) { return std::to_string(number); }

}  // namespace

void Reader::check(const std::string& path) const {
  try {
    demand(array_->length >= 0 && array_->offset >= 0, "a negative length or offset");
    demand(array_->release != nullptr, "it is released");
    int64_t n_nulls = 0;
    for (int64_t i = 0; i < array_->length; ++i) n_nulls += is_null(i);
    demand(array_->null_count == -1 || array_->null_count == n_nulls,
           "null_count " + text(array_->null_count) + ", it has " + text(n_nulls) + " nulls");
    check_slots();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
  for (size_t i = 0; i < children_.size(); ++i) {
    const std::string& name = children_[i].name_;
    children_[i].check(path + "." + (name.empty() ? "[" + text(static_cast<int64_t>(i)) + "]" : name));
  }
  if (!dictionary_.empty()) dictionary_.front().check(path + ".dictionary");
}

void Reader::check_slots() const {
  const int64_t first = array_->offset;
  const int64_t end = first + array_->length;
  if (array_->length == 0) return;
  switch (shape_.kind) {
    case Kind::kNull: break;
    case Kind::kFixed:
    case Kind::kView:
      for (int64_t i = 0; i < array_->length; ++i) value(i);
      break;
    case Kind::kBinary:
    case Kind::kList:
      demand(integer(1, shape_.width, first) >= 0, "its first offset is negative");
      for (int64_t slot = first; slot < end; ++slot) {
        demand(integer(1, shape_.width, slot) <= integer(1, shape_.width, slot + 1), "its offsets do not ascend");
      }
      if (shape_.kind == Kind::kList) {
        demand(integer(1, shape_.width, end) <= children_[0].length(), "its last offset is beyond the child");
      }
      break;
    case Kind::kListView:
      for (int64_t i = 0; i < array_->length; ++i) {
        if (is_null(i)) continue;
        const int64_t start = integer(1, shape_.width, first + i);
        const int64_t size = integer(2, shape_.width, first + i);
        demand(start >= 0 && size >= 0 && start <= children_[0].length() && size <= children_[0].length() - start,
               "row " + text(i) + ": " + text(size) + " items at " + text(start) + " of a child with " +
                   text(children_[0].length()));
      }
      break;
    case Kind::kFixedSizeList: demand(end * shape_.list_size <= children_[0].length(), "its child is too short"); break;
    case Kind::kStruct:
    case Kind::kSparseUnion:
      for (const Reader& child : children_) demand(end <= child.length(), "child " + child.name_ + " is too short");
      if (shape_.kind == Kind::kStruct) break;
      for (int64_t slot = first; slot < end; ++slot) child_of_type_id(slot);
      break;
    case Kind::kDenseUnion:
      for (int64_t slot = first; slot < end; ++slot) {
        const Reader& child = children_[child_of_type_id(slot)];
        const int64_t row = integer(1, 4, slot);
        demand(row >= 0 && row < child.length(),
               "row " + text(row) + " of child " + child.name_ + ", which has " + text(child.length()));
      }
      break;
    case Kind::kRunEndEncoded: check_run_ends(); break;
  }
}

void Reader::check_run_ends() const {
  const Reader& ends = children_[0];
  demand(ends.array_->null_count == 0, "its run ends have nulls");
  demand(ends.length() <= children_[1].length(), "it has fewer values than runs");
  int64_t last = 0;
  for (int64_t run = 0; run < ends.length(); ++run) {
    const int64_t end = ends.integer(1, static_cast<int>(ends.shape_.bits / 8), ends.array_->offset + run);
    demand(end > last, "its run ends do not ascend");
    last = end;
  }
  demand(last >= array_->offset + array_->length, "its last run ends before the array");
}

}  // namespace arrowdevice::testing
