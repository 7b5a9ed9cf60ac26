// SPDX-License-Identifier: Apache-2.0
#include "schema/binding.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/checked.h"

namespace arrowdevice::schema {

Binding::Binding(const Tree& tree, const ArrowArray& root, std::pmr::memory_resource* memory)
    : tree_(tree), bound_(memory) {
  bound_.resize(static_cast<size_t>(tree.size()));
  bind(0, &root);
  for (int32_t field = 0; field < tree_.size(); ++field) {
    if (is_plain(field)) continue;  // its parent has bound it
    check_lengths(field);
    check_buffer_count(field);
    interpret(field);
    check_buffers(field);
    check_children(field);
    bind_children(field);
  }
  // Parents come before their children in a tree, so the lengths of children are checked only here.
  for (int32_t field = 0; field < tree_.size(); ++field) {
    if (tree_[field].n_children > 0) check_child_lengths(field);
  }
}

// Binds most fields by a short path. Returns false for all other fields and for errors, which the general path checks
// rule by rule.
bool Binding::bind_plain(int32_t field, const ArrowArray* array) {
  if (!tree_[field].is_plain || array == nullptr || array->release == nullptr ||
      static_cast<uint64_t>(array->length) > kMostPlainSlots ||
      static_cast<uint64_t>(array->offset) > kMostPlainSlots || array->null_count < -1 ||
      array->null_count > array->length || array->n_buffers != 2 || array->buffers == nullptr ||
      array->buffers[1] == nullptr || array->n_children != 0 || array->dictionary != nullptr) {
    return false;
  }
  const bool has_bitmap = array->buffers[0] != nullptr;
  if (!has_bitmap && array->null_count > 0) return false;
  bound_[static_cast<size_t>(field)] = {array, array->buffers, has_bitmap ? array->null_count : 0, true};
  buffer_count_ += 2;
  return true;
}

const void* Binding::buffer(int32_t field, BufferShape shape) const noexcept {
  const auto& shapes = info(field).buffers;
  const auto at = std::ranges::find(shapes, shape);
  return at == shapes.end() ? nullptr : buffers(field)[static_cast<size_t>(at - shapes.begin())];
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
  bound_[static_cast<size_t>(field)].array = array;
}

// Applies the layout to a struct whose number of buffers is correct.
void Binding::interpret(int32_t field) {
  const auto& array = (*this)[field];
  const auto& type = tree_[field].type;
  const auto& info = type.info();
  auto& bound = bound_[static_cast<size_t>(field)];
  bound.buffers = array.buffers;
  if (!info.is_variadic && array.n_buffers > info.fixed_buffers) bound.buffers += array.n_buffers - info.fixed_buffers;
  if (type.layout == Layout::kNull) {
    bound.null_count = array.length;
  } else {
    const bool has_bitmap = info.has_validity && array.buffers[0] != nullptr && !is_run_ends(field);
    bound.null_count = has_bitmap ? array.null_count : 0;
  }
  count_buffers(field);
  has_variadic_ |= n_variadic(field) > 0;
}

void Binding::count_buffers(int32_t field) {
  if (__builtin_add_overflow(buffer_count_, buffer_count(field), &buffer_count_)) {
    refuse(field, "with its buffers there are more than 64 bits can count");
  }
}

void Binding::check_lengths(int32_t field) const {
  const auto& array = (*this)[field];
  if (array.length < 0) refuse(field, "length is " + std::to_string(array.length));
  if (array.offset < 0) refuse(field, "offset is " + std::to_string(array.offset));
  int64_t end = 0;
  if (__builtin_add_overflow(array.length, array.offset, &end)) {
    refuse(field,
           "offset " + std::to_string(array.offset) + " and length " + std::to_string(array.length) + " overflow");
  }
  if (array.null_count < -1 || array.null_count > array.length) {
    refuse(field, "null_count is " + std::to_string(array.null_count) + ", length " + std::to_string(array.length));
  }
}

void Binding::check_buffer_count(int32_t field) const {
  const auto& array = (*this)[field];
  const auto& type = tree_[field].type;
  const auto& info = type.info();
  if (array.n_buffers < 0) refuse(field, "n_buffers is " + std::to_string(array.n_buffers));
  const bool fits = info.is_variadic ? array.n_buffers >= info.fixed_buffers : array.n_buffers == info.fixed_buffers;
  if (!fits && array.n_buffers != info.legacy_buffers) {
    refuse(field, std::string("a ") + info.name + " has " + std::to_string(info.fixed_buffers) +
                      (info.is_variadic ? " or more" : "") + " buffers, not " + std::to_string(array.n_buffers));
  }
  if (array.n_buffers > 0 && array.buffers == nullptr) refuse(field, "buffers is NULL");
  const bool counts_no_nulls = !info.has_validity && type.layout != Layout::kNull;
  if (counts_no_nulls && array.null_count > 0) {
    refuse(field, std::string("a ") + info.name + " has no nulls of its own, but null_count is " +
                      std::to_string(array.null_count));
  }
  if (!fits && type.layout != Layout::kNull && array.null_count != 0) {
    refuse(field, "a union with a validity bitmap must have null_count 0, not " + std::to_string(array.null_count));
  }
}

void Binding::check_buffers(int32_t field) const {
  const auto& array = (*this)[field];
  const auto& type = tree_[field].type;
  const auto& info = type.info();
  const auto given = buffers(field);
  const int64_t slots = array.length + array.offset;
  for (size_t i = 0; i < info.buffers.size(); ++i) {
    const auto shape = info.buffers[i];
    if (shape == BufferShape::kVariadic) continue;
    const void* const buffer = shape == BufferShape::kVariadicSizes ? given.back() : given[i];
    if (shape == BufferShape::kVariadicSizes) {
      if (buffer == nullptr && n_variadic(field) > 0) {
        refuse(field, "the sizes of " + std::to_string(n_variadic(field)) + " variadic buffers are NULL");
      }
      continue;
    }
    int64_t bytes = 0;
    try {
      bytes = buffer_bytes(type, shape, slots);
    } catch (const Error&) {
      refuse(field, std::string("the size of the ") + buffer_name(shape) + " buffer overflows, length " +
                        std::to_string(array.length) + ", offset " + std::to_string(array.offset));
    }
    if (buffer != nullptr) continue;
    if (shape == BufferShape::kValidity) {
      if (array.null_count > 0) {
        refuse(field, "the validity buffer is NULL, but null_count is " + std::to_string(array.null_count));
      }
    } else if (shape != BufferShape::kBytes && array.length > 0 && bytes > 0) {
      refuse(field, std::string(buffer_name(shape)) + " buffer is NULL, length " + std::to_string(array.length));
    }
  }
}

void Binding::check_children(int32_t field) const {
  const auto& array = (*this)[field];
  const auto& described = tree_[field];
  if (array.n_children != described.n_children) {
    refuse(field, "the schema has " + std::to_string(described.n_children) + " children, the array " +
                      std::to_string(array.n_children));
  }
  if (array.n_children > 0 && array.children == nullptr) refuse(field, "children is NULL");
  if (described.dictionary >= 0 && array.dictionary == nullptr) refuse(field, "the dictionary is missing");
  if (described.dictionary < 0 && array.dictionary != nullptr) {
    refuse(field, "the array has a dictionary, the schema has none");
  }
}

void Binding::bind_children(int32_t field) {
  const auto& array = (*this)[field];
  const auto& described = tree_[field];
  for (int32_t i = 0; i < described.n_children; ++i) {
    const int32_t child = described.first_child + i;
    if (!bind_plain(child, array.children[i])) bind(child, array.children[i]);
  }
  if (described.dictionary >= 0) bind(described.dictionary, array.dictionary);
}

void Binding::refuse_length(int32_t field, int64_t needed) const {
  refuse(field, "length is " + std::to_string((*this)[field].length) + ", the parent needs " + std::to_string(needed));
}

void Binding::check_child_lengths(int32_t field) const {
  const auto& described = tree_[field];
  const auto& array = (*this)[field];
  const int64_t end = array.offset + array.length;
  const auto child_needs = [&](int32_t child, int64_t needed) {
    if ((*this)[child].length < needed) refuse_length(child, needed);
  };
  switch (described.type.info().refers) {
    case ReferenceKind::kIdentity:
      for (int32_t i = 0; i < described.n_children; ++i) child_needs(described.first_child + i, end);
      break;
    case ReferenceKind::kScaled: {
      int64_t needed = 0;
      if (__builtin_mul_overflow(end, described.type.list_size, &needed))
        refuse(field, "the number of items overflows");
      child_needs(described.first_child, needed);
      break;
    }
    case ReferenceKind::kRunEnds: {
      const int32_t run_ends = described.first_child;
      const int32_t values = run_ends + 1;
      if (array.length > 0 && (*this)[run_ends].length == 0)
        refuse(run_ends, "there are no runs, length " + std::to_string(array.length));
      if ((*this)[run_ends].null_count > 0) refuse(run_ends, "run ends have nulls");
      child_needs(values, (*this)[run_ends].length);
      break;
    }
    case ReferenceKind::kNone:
    case ReferenceKind::kOffsets:
    case ReferenceKind::kListViews:
    case ReferenceKind::kTypeIds:
    case ReferenceKind::kBinaryViews: break;  // depends on the data
  }
}

bool Binding::is_run_ends(int32_t field) const noexcept {
  const int32_t parent = tree_[field].parent;
  return parent >= 0 && tree_[parent].type.layout == Layout::kRunEndEncoded && tree_[parent].first_child == field;
}

int64_t null_count_of_rows(const Binding& array, int32_t field, int64_t length, bool is_all) {
  if (array.tree()[field].type.layout == Layout::kNull) return length;
  // No rows have no nulls, even if they are not counted. Their bitmap is omitted, and an array without a bitmap has no
  // nulls.
  if (length == 0) return 0;
  const int64_t nulls = array.null_count(field);
  if (is_all || nulls == 0) return nulls;
  return nulls == array[field].length ? length : -1;
}

}  // namespace arrowdevice::schema
