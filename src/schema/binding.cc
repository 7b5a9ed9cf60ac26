// SPDX-License-Identifier: Apache-2.0
#include "schema/binding.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/checked.h"

namespace arrowdevice::schema {
namespace {

std::string number(int64_t value) { return std::to_string(value); }

bool is_variadic(const LayoutInfo& info) {
  return std::ranges::find(info.buffers, BufferShape::kVariadic) != info.buffers.end();
}

// Buffers that are always there, the sizes of variadic ones included.
int64_t fixed_buffers(const LayoutInfo& info) {
  return static_cast<int64_t>(info.buffers.size()) - (is_variadic(info) ? 1 : 0);
}

}  // namespace

int64_t canonical_buffer_count(const Type& type, int64_t n_variadic) noexcept {
  return fixed_buffers(type.info()) + n_variadic;
}

Binding::Binding(const Tree& tree, const ArrowArray& root) : tree_(tree) {
  arrays_.resize(static_cast<size_t>(tree.size()), nullptr);
  bind(0, &root);
  for (int32_t field = 0; field < tree_.size(); ++field) {
    check_lengths(field);
    check_buffers(field);
    check_children(field);
    const auto& array = (*this)[field];
    const auto& described = tree_[field];
    for (int32_t i = 0; i < described.n_children; ++i) bind(described.first_child + i, array.children[i]);
    if (described.dictionary >= 0) bind(described.dictionary, array.dictionary);
  }
  // Parents come before their children in a tree, so only now are all lengths known to be sound.
  for (int32_t field = 0; field < tree_.size(); ++field) check_child_lengths(field);
}

void Binding::refuse(int32_t field, const std::string& why) const {
  throw Error(EINVAL, tree_.path(field) + ": " + why);
}

void Binding::bind(int32_t field, const ArrowArray* array) {
  if (array == nullptr) refuse(field, "the array is NULL");
  if (array->release == nullptr) refuse(field, "the array is released");
  for (int32_t above = tree_[field].parent; above >= 0; above = tree_[above].parent) {
    if (&(*this)[above] == array) refuse(field, "the array is its own ancestor");
  }
  arrays_[static_cast<size_t>(field)] = array;
}

void Binding::check_lengths(int32_t field) const {
  const auto& array = (*this)[field];
  if (array.length < 0) refuse(field, "length is " + number(array.length));
  if (array.offset < 0) refuse(field, "offset is " + number(array.offset));
  int64_t end = 0;
  if (__builtin_add_overflow(array.length, array.offset, &end)) {
    refuse(field, "offset " + number(array.offset) + " and length " + number(array.length) + " overflow");
  }
  if (array.null_count < -1 || array.null_count > array.length) {
    refuse(field, "null_count is " + number(array.null_count) + ", length " + number(array.length));
  }
}

void Binding::check_buffers(int32_t field) const {
  const auto& array = (*this)[field];
  const auto& type = tree_[field].type;
  const auto& info = type.info();
  const int64_t fixed = fixed_buffers(info);
  if (array.n_buffers < 0) refuse(field, "n_buffers is " + number(array.n_buffers));
  const bool fits = is_variadic(info) ? array.n_buffers >= fixed : array.n_buffers == fixed;
  if (!fits && array.n_buffers != info.legacy_buffers) {
    refuse(field, std::string("a ") + info.name + " has " + number(fixed) + (is_variadic(info) ? " or more" : "") +
                      " buffers, not " + number(array.n_buffers));
  }
  if (array.n_buffers > 0 && array.buffers == nullptr) refuse(field, "buffers is NULL");
  const bool counts_no_nulls = !info.has_validity && type.layout != Layout::kNull;
  if (counts_no_nulls && array.null_count > 0) {
    refuse(field,
           std::string("a ") + info.name + " has no nulls of its own, but null_count is " + number(array.null_count));
  }
  if (!fits && type.layout != Layout::kNull && array.null_count != 0) {
    refuse(field, "a union with a validity bitmap must have null_count 0, not " + number(array.null_count));
  }
  const auto given = buffers(field);
  const int64_t slots = array.length + array.offset;
  for (size_t i = 0; i < info.buffers.size(); ++i) {
    const auto shape = info.buffers[i];
    if (shape == BufferShape::kVariadic) continue;
    const void* const buffer = shape == BufferShape::kVariadicSizes ? given.back() : given[i];
    if (shape == BufferShape::kVariadicSizes) {
      if (buffer == nullptr && n_variadic(field) > 0) {
        refuse(field, "the sizes of " + number(n_variadic(field)) + " variadic buffers are NULL");
      }
      continue;
    }
    int64_t bytes = 0;
    try {
      bytes = buffer_bytes(type, shape, slots);
    } catch (const Error&) {
      refuse(field, std::string("the size of the ") + buffer_name(shape) + " buffer overflows, length " +
                        number(array.length) + ", offset " + number(array.offset));
    }
    if (buffer != nullptr) continue;
    if (shape == BufferShape::kValidity) {
      if (array.null_count > 0) {
        refuse(field, "the validity buffer is NULL, but null_count is " + number(array.null_count));
      }
    } else if (shape != BufferShape::kBytes && array.length > 0 && bytes > 0) {
      refuse(field, std::string(buffer_name(shape)) + " buffer is NULL, length " + number(array.length));
    }
  }
}

void Binding::check_children(int32_t field) const {
  const auto& array = (*this)[field];
  const auto& described = tree_[field];
  if (array.n_children != described.n_children) {
    refuse(field,
           "the schema has " + number(described.n_children) + " children, the array " + number(array.n_children));
  }
  if (array.n_children > 0 && array.children == nullptr) refuse(field, "children is NULL");
  if (described.dictionary >= 0 && array.dictionary == nullptr) refuse(field, "the dictionary is missing");
  if (described.dictionary < 0 && array.dictionary != nullptr) {
    refuse(field, "the array has a dictionary, the schema has none");
  }
}

void Binding::check_child_lengths(int32_t field) const {
  const auto& described = tree_[field];
  const auto& array = (*this)[field];
  const int64_t end = array.offset + array.length;
  const auto child_needs = [&](int32_t child, int64_t needed) {
    if ((*this)[child].length < needed) {
      refuse(child, "length is " + number((*this)[child].length) + ", the parent needs " + number(needed));
    }
  };
  switch (described.type.info().refers) {
    case Refers::kSame:
      for (int32_t i = 0; i < described.n_children; ++i) child_needs(described.first_child + i, end);
      break;
    case Refers::kTimes: {
      int64_t needed = 0;
      if (__builtin_mul_overflow(end, described.type.list_size, &needed))
        refuse(field, "the number of items overflows");
      child_needs(described.first_child, needed);
      break;
    }
    case Refers::kRunEnds: {
      const int32_t run_ends = described.first_child;
      const int32_t values = run_ends + 1;
      if (array.length > 0 && (*this)[run_ends].length == 0)
        refuse(run_ends, "there are no runs, length " + number(array.length));
      if ((*this)[run_ends].null_count > 0) refuse(run_ends, "run ends have nulls");
      child_needs(values, (*this)[run_ends].length);
      break;
    }
    case Refers::kNowhere:
    case Refers::kOffsets:
    case Refers::kListViews:
    case Refers::kTypeIds:
    case Refers::kBinaryViews: break;  // the data says
  }
}

std::span<const void* const> Binding::buffers(int32_t field) const noexcept {
  const auto& array = (*this)[field];
  const auto& info = tree_[field].type.info();
  const int64_t fixed = fixed_buffers(info);
  const int64_t in_front = !is_variadic(info) && array.n_buffers > fixed ? array.n_buffers - fixed : 0;
  return {array.buffers + in_front, static_cast<size_t>(array.n_buffers - in_front)};
}

int64_t Binding::n_variadic(int32_t field) const noexcept {
  const auto& info = tree_[field].type.info();
  return is_variadic(info) ? (*this)[field].n_buffers - fixed_buffers(info) : 0;
}

bool Binding::is_run_ends(int32_t field) const noexcept {
  const int32_t parent = tree_[field].parent;
  return parent >= 0 && tree_[parent].type.layout == Layout::kRunEndEncoded && tree_[parent].first_child == field;
}

int64_t Binding::null_count(int32_t field) const noexcept {
  const auto& array = (*this)[field];
  const auto& type = tree_[field].type;
  if (type.layout == Layout::kNull) return array.length;
  if (!type.info().has_validity || array.buffers[0] == nullptr || is_run_ends(field)) return 0;
  return array.null_count;
}

}  // namespace arrowdevice::schema
