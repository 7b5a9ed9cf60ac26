// SPDX-License-Identifier: Apache-2.0
#include "schema/tree.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "schema/format.h"

namespace arrowdevice::schema {
namespace {

// Returns as much of a name as a path can show, or an empty text if there is no name.
std::string_view name_of(const ArrowSchema* source) {
  if (source == nullptr || source->name == nullptr) return {};
  return {source->name, strnlen(source->name, kLongestPath + 1)};
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

Tree::Tree(const ArrowSchema& root, std::pmr::memory_resource* memory) : fields_(memory), union_maps_(memory) {
  // The order is breadth first, so that children are side by side. A loop is used, so that depth needs no stack.
  add(&root, -1, false, {});
  int depth = 1;
  int32_t level_end = 1;
  for (int32_t i = 0; i < size(); ++i) {
    if (i == level_end) {
      ++depth;
      level_end = size();
    }
    if ((*this)[i].is_plain) continue;
    check_type(i, read_format(i));
    check_place(i);
    add_children(i, depth);
  }
}

void Tree::refuse(int32_t field, int code, const std::string& reason) const {
  throw Error(code, path(field) + ": " + reason);
}

// Adds most fields of a struct at the root by a short path: a common type of fixed width, without descendants. Returns
// false for all other fields and for errors.
bool Tree::add_plain(const ArrowSchema* source, int32_t parent) {
  if (source == nullptr || source->release == nullptr || source->n_children != 0 || source->dictionary != nullptr ||
      source->format == nullptr) {
    return false;
  }
  const Type* const type = common_type(source->format);
  if (type == nullptr || type->layout != Layout::kFixed) return false;
  Field& field = fields_.emplace_back();
  field.source = source;
  field.type = *type;
  field.parent = parent;
  field.first_child = size();
  field.dictionary = -1;
  field.is_plain = true;
  return true;
}

// Reads the type from the format. Returns the number of children that it requires, or LayoutInfo::kAnyNumber.
int64_t Tree::read_format(int32_t index) {
  Field& field = fields_[static_cast<size_t>(index)];
  const char* const format = field.source->format;
  if (format == nullptr) refuse(index, EINVAL, "the format is NULL");
  if (const Type* const common = common_type(format)) {
    field.type = *common;
    return common->info().n_children;
  }
  ParsedFormat parsed;
  try {
    parsed = parse_format(format);
  } catch (const Error& error) {
    refuse(index, error.code(), error.message());
  }
  field.type = parsed.type;
  if (!parsed.union_map) return parsed.type.info().n_children;
  // Columns of the same type often follow each other.
  if (union_maps_.empty() || union_maps_.back() != *parsed.union_map) union_maps_.push_back(*parsed.union_map);
  field.type.union_map = static_cast<int32_t>(union_maps_.size()) - 1;
  return parsed.n_type_ids;
}

// Throws if the schema does not meet the requirements of its type.
void Tree::check_type(int32_t index, int64_t expected) const {
  const Field& field = (*this)[index];
  const ArrowSchema& source = *field.source;
  const int64_t n = source.n_children;
  if (n < 0) refuse(index, EINVAL, "n_children is " + std::to_string(n));
  if (expected != LayoutInfo::kAnyNumber && n != expected) {
    refuse(index, EINVAL,
           "n_children is " + std::to_string(n) + ", not " + std::to_string(expected) + " (" + field.type.info().name +
               ")");
  }
  if (source.dictionary != nullptr && !field.type.is_index) {
    refuse(index, EINVAL, "has a dictionary, but its format is not an integer");
  }
}

// Checks the requirements of a parent on its children, other than their number. Map and run-end children are found by
// position.
void Tree::check_place(int32_t index) const {
  const Field& field = (*this)[index];
  if (field.parent < 0) return;
  const Field& parent = (*this)[field.parent];
  if (parent.type.is_map) {
    if (field.type.layout != Layout::kStruct) refuse(index, EINVAL, "the entries of a map are not a struct");
    const int64_t n = field.source->n_children;
    if (n != 2) refuse(index, EINVAL, "n_children is " + std::to_string(n) + ", not 2 (entries of a map)");
  }
  if (parent.type.layout == Layout::kRunEndEncoded && index == parent.first_child) {
    if (!field.type.is_run_end) refuse(index, EINVAL, "the run ends are not a signed integer of 16, 32 or 64 bits");
    if (field.source->dictionary != nullptr) refuse(index, EINVAL, "the run ends have a dictionary");
  }
}

void Tree::add_children(int32_t index, int depth) {
  const ArrowSchema& source = *(*this)[index].source;
  const int64_t n = source.n_children;
  const bool has_dictionary = source.dictionary != nullptr;
  fields_[static_cast<size_t>(index)].first_child = size();
  if (n == 0 && !has_dictionary) return;
  if (depth == kDeepest) refuse(index, EINVAL, "nested deeper than " + std::to_string(kDeepest) + " levels");
  // The check comes before any child is read, because the number is the only bound on the memory that is read.
  if (n > kMostNodes - size() - has_dictionary) {
    refuse(index, EINVAL, "with its children there are more than " + std::to_string(kMostNodes) + " fields");
  }
  if (n > 0 && source.children == nullptr) {
    refuse(index, EINVAL, "children is NULL, n_children is " + std::to_string(n));
  }

  std::array<const ArrowSchema*, kDeepest> line;
  size_t n_line = 0;
  for (int32_t each = index; each >= 0; each = (*this)[each].parent) line[n_line++] = (*this)[each].source;
  const std::span<const ArrowSchema* const> ancestors(line.data(), n_line);

  fields_[static_cast<size_t>(index)].n_children = static_cast<int32_t>(n);
  const size_t needed = fields_.size() + static_cast<size_t>(n) + has_dictionary;
  if (needed > fields_.capacity()) fields_.reserve(std::max(needed, 2 * fields_.capacity()));
  const bool may_be_plain = index == 0 && (*this)[index].type.layout == Layout::kStruct;
  for (int64_t i = 0; i < n; ++i) {
    if (!may_be_plain || !add_plain(source.children[i], index)) {
      add(source.children[i], index, false, ancestors);
    }
  }
  if (has_dictionary) {
    fields_[static_cast<size_t>(index)].dictionary = size();
    add(source.dictionary, index, true, ancestors);
  }
  if (size() >= next_look_at_sharing_) [[unlikely]]
    check_sharing(index);
}

// Refuses a schema of many fields and few structs. The next check comes when the number of fields has doubled.
void Tree::check_sharing(int32_t index) {
  next_look_at_sharing_ = 2 * int64_t{size()};
  std::vector<const ArrowSchema*> structs;
  structs.reserve(fields_.size());
  for (const auto& field : fields_) structs.push_back(field.source);
  std::ranges::sort(structs);
  const auto n_structs = std::unique(structs.begin(), structs.end()) - structs.begin();
  if (n_structs >= size() / 2) return;
  refuse(index, EINVAL,
         "there are more than " + std::to_string(kMostSharedNodes) + " fields, and only " + std::to_string(n_structs) +
             " structs, which stand in several places");
}

// Adds a field. Refuses a struct that must not be read, before it reads any member of the struct. The name for the
// message is such a member.
void Tree::add(const ArrowSchema* source, int32_t parent, bool is_dictionary,
               std::span<const ArrowSchema* const> ancestors) {
  const int32_t index = size();
  fields_.push_back({.source = nullptr,
                     .type = {},
                     .parent = parent,
                     .first_child = index,
                     .n_children = 0,
                     .dictionary = -1,
                     .is_dictionary = is_dictionary,
                     .is_plain = false});
  if (source == nullptr) refuse(index, EINVAL, "the schema is NULL");
  if (source->release == nullptr) refuse(index, EINVAL, "the schema is released");
  fields_.back().source = source;
  if (std::ranges::find(ancestors, source) != ancestors.end()) {
    refuse(index, EINVAL, "the schema is its own ancestor");
  }
}

std::string Tree::path(int32_t index) const {
  std::array<int32_t, kDeepest> line;
  size_t n_line = 0;
  for (int32_t each = index; each >= 0; each = (*this)[each].parent) line[n_line++] = each;

  const Field& root = fields_.front();
  std::string path(name_of(root.source));
  if (path.empty()) path = root.type.layout == Layout::kStruct ? "batch" : "array";
  for (size_t i = n_line - 1; i-- > 0;) {
    const Field& field = (*this)[line[i]];
    const std::string_view name = name_of(field.source);
    path += '.';
    if (field.is_dictionary) {
      path += "dictionary";
    } else if (!name.empty()) {
      path += name;
    } else {
      path += '[' + std::to_string(line[i] - (*this)[field.parent].first_child) + ']';
    }
  }
  return shorten_path(std::move(path));
}

// Cuts between two characters of UTF-8, so that a path can be printed.
std::string shorten_path(std::string path) {
  if (path.size() <= kLongestPath) return path;
  constexpr std::string_view kGap = "...";
  size_t head = kLongestPath / 2;
  size_t tail = path.size() - (kLongestPath - head - kGap.size());
  while (head > 0 && continues_character(path[head])) --head;
  while (tail < path.size() && continues_character(path[tail])) ++tail;
  path.replace(head, tail - head, kGap);
  return path;
}

}  // namespace arrowdevice::schema
