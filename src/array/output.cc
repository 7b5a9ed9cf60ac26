// SPDX-License-Identifier: Apache-2.0
#include "array/output.h"

#include <cassert>
#include <cstring>
#include <new>

#include "base/checked.h"

namespace arrowdevice::array {

// The head of the block. Structs and pointers follow it.
struct Output::Block {
  std::atomic<int64_t> live_nodes;
  std::shared_ptr<BufferOwner> owner;

  // Destroys the block. The buffers' owner is destroyed before the nodes, which are no longer visible to consumers.
  static void destroy(Block* block) noexcept {
    block->~Block();
    ::operator delete(block);
  }
};

Output::Output(const OutputShape& shape) {
  const int64_t head = align_up(sizeof(Block), alignof(ArrowArray));
  const int64_t nodes = checked_mul(shape.nodes - 1, sizeof(ArrowArray));
  const int64_t children = checked_mul(shape.children, sizeof(ArrowArray*));
  const int64_t buffers = checked_mul(shape.buffers, sizeof(const void*));
  const int64_t size = checked_add(checked_add(head, nodes), checked_add(children, buffers));
  auto* const memory = static_cast<char*>(::operator new(static_cast<size_t>(size)));
  std::memset(memory + head + nodes, 0, static_cast<size_t>(children + buffers));
  block_ = new (memory) Block{.live_nodes = 0, .owner = nullptr};
  nodes_ = reinterpret_cast<ArrowArray*>(memory + head);
  children_ = reinterpret_cast<ArrowArray**>(memory + head + nodes);
  buffers_ = reinterpret_cast<const void**>(memory + head + nodes + children);
}

Output::~Output() {
  if (block_ != nullptr) Block::destroy(block_);
}

void Output::publish(std::shared_ptr<BufferOwner> owner, ArrowArray* out) noexcept {
  block_->live_nodes.store(added_, std::memory_order_relaxed);
  block_->owner = std::move(owner);
  block_ = nullptr;
  *out = root_;
}

// Releases a node and its remaining descendants. Returns the number of released nodes of the block, so that the shared
// count is lowered only once.
int64_t Output::release_tree(ArrowArray* node, const Block* block) {
  int64_t released = 1;
  const auto release = [&](ArrowArray* below) {
    if (below->release == release_node && below->private_data == block) {
      released += release_tree(below, block);
    } else if (below->release != nullptr) {
      below->release(below);
    }
  };
  // Children that were moved out are marked released here and live on elsewhere.
  for (int64_t i = 0; i < node->n_children; ++i) release(node->children[i]);
  if (node->dictionary != nullptr) release(node->dictionary);
  node->release = nullptr;
  return released;
}

void Output::release_node(ArrowArray* node) {
  auto* const block = static_cast<Block*>(node->private_data);
  const int64_t released = release_tree(node, block);
  if (block->live_nodes.fetch_sub(released, std::memory_order_acq_rel) == released) Block::destroy(block);
}

bool is_output(const ArrowArray& array) noexcept { return array.release == Output::release_node; }

const std::shared_ptr<BufferOwner>& owner_of(const ArrowArray& array) noexcept {
  assert(is_output(array));
  return static_cast<const Output::Block*>(array.private_data)->owner;
}

}  // namespace arrowdevice::array
