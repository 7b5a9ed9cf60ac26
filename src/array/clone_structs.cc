// SPDX-License-Identifier: Apache-2.0
#include "array/clone_structs.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/scratch.h"

namespace arrowdevice::array {
namespace {

// A struct of an array without its schema. Parents come first, and children are side by side.
struct Found {
  const ArrowArray* array;
  int64_t parent;
  int depth;
};

// Refuses arrays whose structs occur in many positions, as schema::Tree does for schemas.
void check_sharing(std::span<const Found> found) {
  std::vector<const ArrowArray*> structs;
  structs.reserve(found.size());
  for (const auto& one : found) structs.push_back(one.array);
  std::ranges::sort(structs);
  const auto n_structs = std::unique(structs.begin(), structs.end()) - structs.begin();
  if (n_structs >= std::ssize(found) / 2) return;
  throw Error(EINVAL, "more than " + std::to_string(schema::kMostSharedNodes) + " arrays in one, and only " +
                          std::to_string(n_structs) + " structs, which stand in several places");
}

std::string place_of(std::span<const Found> found, int64_t index) {
  std::string path;
  for (; found[static_cast<size_t>(index)].parent >= 0; index = found[static_cast<size_t>(index)].parent) {
    const auto& parent = *found[static_cast<size_t>(found[static_cast<size_t>(index)].parent)].array;
    int64_t position = 0;
    while (position < parent.n_children && parent.children[position] != found[static_cast<size_t>(index)].array)
      ++position;
    path = (position < parent.n_children ? ".[" + std::to_string(position) + "]" : ".dictionary") + path;
  }
  return "array" + path;
}

std::pmr::vector<Found> find_all(const ArrowArray& root, std::pmr::memory_resource* memory) {
  std::pmr::vector<Found> found(memory);
  found.push_back({&root, -1, 1});
  const auto add = [&](const ArrowArray* array, size_t parent, int depth) {
    const auto where = [&] { return place_of(found, static_cast<int64_t>(parent)); };
    if (array == nullptr) throw Error(EINVAL, where() + ": a child is NULL");
    if (array->release == nullptr) throw Error(EINVAL, where() + ": a child is released");
    for (auto above = static_cast<int64_t>(parent); above >= 0; above = found[static_cast<size_t>(above)].parent) {
      if (found[static_cast<size_t>(above)].array == array)
        throw Error(EINVAL, where() + ": a child is its own ancestor");
    }
    found.push_back({array, static_cast<int64_t>(parent), depth});
  };
  auto next_look_at_sharing = static_cast<size_t>(schema::kMostSharedNodes) + 1;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto& array = *found[i].array;
    if (found.size() >= next_look_at_sharing) {
      check_sharing(found);
      next_look_at_sharing = 2 * found.size();
    }
    const auto where = [&] { return place_of(found, static_cast<int64_t>(i)); };
    if (array.n_children < 0 || (array.n_children > 0 && array.children == nullptr) || array.n_buffers < 0 ||
        (array.n_buffers > 0 && array.buffers == nullptr)) {
      throw Error(EINVAL, where() + ": buffers or children are missing");
    }
    const bool has_dictionary = array.dictionary != nullptr;
    if (array.n_children == 0 && !has_dictionary) continue;
    const int depth = found[i].depth + 1;
    if (depth > schema::kDeepest) throw Error(EINVAL, where() + ": more than 64 levels deep");
    const int64_t wanted =
        std::ssize(found) + std::min(array.n_children, schema::kMostNodes) + (has_dictionary ? 1 : 0);
    if (wanted > schema::kMostNodes) throw Error(EINVAL, "more than 2^20 arrays in one");
    const auto room = static_cast<size_t>(wanted);
    if (room > found.capacity()) found.reserve(std::max(room, 2 * found.capacity()));
    for (int64_t child = 0; child < array.n_children; ++child) add(array.children[child], i, depth);
    if (has_dictionary) add(array.dictionary, i, depth);
  }
  return found;
}

// Returns `field` and its descendants, parents first.
std::pmr::vector<int32_t> subtree(const schema::Tree& tree, int32_t field, std::pmr::memory_resource* memory) {
  std::pmr::vector<int32_t> fields(memory);
  fields.push_back(field);
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto& described = tree[fields[i]];
    for (int32_t child = 0; child < described.n_children; ++child) fields.push_back(described.first_child + child);
    if (described.dictionary >= 0) fields.push_back(described.dictionary);
  }
  return fields;
}

bool is_leaf(const schema::Field& field) noexcept { return field.n_children == 0 && field.dictionary < 0; }

OutputShape shape_of(const schema::Binding& array, std::span<const int32_t> roots, int64_t extra_nodes,
                     std::pmr::memory_resource* memory) {
  OutputShape shape;
  if (extra_nodes > 0) {
    shape.nodes = 1;
    shape.children = static_cast<int64_t>(roots.size());
    shape.buffers = 1;  // of a struct
  }
  const auto add = [&](int32_t field) {
    if (++shape.nodes > schema::kMostNodes) throw Error(EINVAL, "more than 2^20 arrays in one");
    shape.children += array.tree()[field].n_children;
    shape.buffers += array.buffer_count(field);
  };
  for (const int32_t root : roots) {
    if (is_leaf(array.tree()[root])) {
      add(root);
    } else {
      for (const int32_t field : subtree(array.tree(), root, memory)) add(field);
    }
  }
  return shape;
}

void copy_numbers(const ArrowArray& from, ArrowArray& to) noexcept {
  to.length = from.length;
  to.null_count = from.null_count;
  to.offset = from.offset;
}

}  // namespace

Output clone_structs(const ArrowArray& root) {
  Scratch scratch;
  const auto found = find_all(root, scratch.memory());
  OutputShape shape;
  for (const auto& one : found) {
    ++shape.nodes;
    shape.children = checked_add(shape.children, one.array->n_children);
    shape.buffers = checked_add(shape.buffers, one.array->n_buffers);
  }
  Output output(shape);
  std::pmr::vector<ArrowArray*> nodes(scratch.memory());
  nodes.reserve(found.size());
  int64_t next_child = 0;
  int64_t current_parent = -1;
  for (const auto& one : found) {
    auto& node = output.add_node(one.array->n_buffers, one.array->n_children);
    copy_numbers(*one.array, node);
    std::copy_n(one.array->buffers, one.array->n_buffers, node.buffers);
    nodes.push_back(&node);
    if (one.parent < 0) continue;
    if (one.parent != current_parent) {
      current_parent = one.parent;
      next_child = 0;
    }
    auto& parent = *nodes[static_cast<size_t>(one.parent)];
    if (next_child < parent.n_children) {
      parent.children[next_child++] = &node;
    } else {
      parent.dictionary = &node;
    }
  }
  return output;
}

SharedArray::SharedArray(ArrowDeviceArray& array) : array_(array) {
  if (is_output(array.array)) {
    owner_ = owner_of(array.array);
    return;
  }
  auto foreign = std::make_shared<ImportedOwner>();
  output_.emplace(clone_structs(array.array));
  foreign_ = foreign.get();
  owner_ = std::move(foreign);
}

void SharedArray::commit() noexcept {
  if (foreign_ == nullptr) return;
  foreign_->array() = array_;
  output_->publish(owner_, &array_.array);
}

ArraySlice::ArraySlice(const schema::Binding& array, std::span<const int32_t> fields, int64_t extra_nodes,
                       std::pmr::memory_resource* memory)
    : array_(array), memory_(memory), output_(shape_of(array, fields, extra_nodes, memory)) {}

ArrowArray& ArraySlice::add_node(int32_t field) {
  const auto buffers = array_.buffers(field);
  auto& node = output_.add_node(static_cast<int64_t>(buffers.size()), array_.tree()[field].n_children);
  copy_numbers(array_[field], node);
  node.null_count = array_.null_count(field);
  std::ranges::copy(buffers, node.buffers);
  return node;
}

ArrowArray& ArraySlice::add_tree(int32_t root) {
  const auto& tree = array_.tree();
  const auto fields = subtree(tree, root, memory_);
  std::pmr::vector<ArrowArray*> nodes(memory_);
  nodes.reserve(fields.size());
  for (const int32_t field : fields) nodes.push_back(&add_node(field));
  size_t next = 1;
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto& described = tree[fields[i]];
    for (int32_t child = 0; child < described.n_children; ++child) nodes[i]->children[child] = nodes[next++];
    if (described.dictionary >= 0) nodes[i]->dictionary = nodes[next++];
  }
  return *nodes[0];
}

ArrowArray& ArraySlice::add(int32_t root, int64_t skip, int64_t length) {
  auto& node = is_leaf(array_.tree()[root]) ? add_node(root) : add_tree(root);
  const bool is_all = skip == 0 && length == node.length;
  node.null_count = schema::null_count_of_rows(array_, root, length, is_all);
  node.offset += skip;
  node.length = length;
  return node;
}

}  // namespace arrowdevice::array
