// SPDX-License-Identifier: Apache-2.0
#include "array/clone_structs.h"

#include <algorithm>
#include <cerrno>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/scratch.h"
#include "schema/tree.h"

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
    node.length = one.array->length;
    node.null_count = one.array->null_count;
    node.offset = one.array->offset;
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

}  // namespace arrowdevice::array
