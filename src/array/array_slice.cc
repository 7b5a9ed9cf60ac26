// SPDX-License-Identifier: Apache-2.0
#include "array/array_slice.h"

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace arrowdevice::array {
namespace {

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

}  // namespace

ArraySlice::ArraySlice(const schema::Binding& array, std::span<const int32_t> fields, int64_t extra_nodes,
                       std::pmr::memory_resource* memory)
    : array_(array), memory_(memory), output_(shape_of(array, fields, extra_nodes, memory)) {}

ArrowArray& ArraySlice::add_node(int32_t field) {
  const auto buffers = array_.buffers(field);
  auto& node = output_.add_node(static_cast<int64_t>(buffers.size()), array_.tree()[field].n_children);
  node.length = array_[field].length;
  node.offset = array_[field].offset;
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
