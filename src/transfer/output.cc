// SPDX-License-Identifier: Apache-2.0
#include "transfer/output.h"

#include <cassert>
#include <cstring>
#include <new>

#include "base/checked.h"

namespace arrowdevice::transfer {

// The head of the block; structs and pointers follow it.
struct Output::Block {
  std::atomic<int64_t> live_nodes;
  std::shared_ptr<Keeper> keeper;

  // What the nodes live on goes before the nodes themselves: nobody can see them any more.
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
  std::memset(memory, 0, static_cast<size_t>(size));
  block_ = new (memory) Block{.live_nodes = 0, .keeper = nullptr};
  nodes_ = reinterpret_cast<ArrowArray*>(memory + head);
  children_ = reinterpret_cast<ArrowArray**>(memory + head + nodes);
  buffers_ = reinterpret_cast<const void**>(memory + head + nodes + children);
}

Output::~Output() {
  if (block_ != nullptr) Block::destroy(block_);
}

ArrowArray& Output::add_node(int64_t n_buffers, int64_t n_children) {
  ArrowArray& node = added_ == 0 ? root_ : nodes_[added_ - 1];
  ++added_;
  node.n_buffers = n_buffers;
  node.n_children = n_children;
  node.buffers = n_buffers > 0 ? buffers_ : nullptr;
  node.children = n_children > 0 ? children_ : nullptr;
  node.release = release_node;
  node.private_data = block_;
  buffers_ += n_buffers;
  children_ += n_children;
  return node;
}

void Output::publish(std::shared_ptr<Keeper> keeper, ArrowArray* out) noexcept {
  block_->live_nodes.store(added_, std::memory_order_relaxed);
  block_->keeper = std::move(keeper);
  block_ = nullptr;
  *out = root_;
}

void Output::release_node(ArrowArray* node) {
  auto* const block = static_cast<Block*>(node->private_data);
  // Children that were moved out are marked released here and live on elsewhere.
  for (int64_t i = 0; i < node->n_children; ++i) {
    ArrowArray* const child = node->children[i];
    if (child->release != nullptr) child->release(child);
  }
  if (node->dictionary != nullptr && node->dictionary->release != nullptr) node->dictionary->release(node->dictionary);
  node->release = nullptr;
  if (block->live_nodes.fetch_sub(1, std::memory_order_acq_rel) == 1) Block::destroy(block);
}

bool is_output(const ArrowArray& array) noexcept { return array.release == Output::release_node; }

const std::shared_ptr<Keeper>& keeper_of(const ArrowArray& array) noexcept {
  assert(is_output(array));
  return static_cast<const Output::Block*>(array.private_data)->keeper;
}

}  // namespace arrowdevice::transfer
