// SPDX-License-Identifier: Apache-2.0
#include "array/output.h"

#include <cassert>
#include <cstring>
#include <new>

#include "base/checked.h"
#include "base/kept_blocks.h"

namespace arrowdevice::array {

// The head of the block. Structs and pointers follow it, and then the bytes of the buffers if the block has them.
struct Output::Block {
  std::atomic<int64_t> live_nodes;  // and keepers
  int64_t capacity;                 // of a block with bytes, from kept_blocks; else 0
  std::shared_ptr<BufferOwner> owner;

  // Destroys the block. The buffers' owner is destroyed before the nodes, which are no longer visible to consumers.
  static void destroy(Block* block) noexcept {
    const int64_t capacity = block->capacity;
    block->~Block();
    if (capacity == 0) {
      ::operator delete(block);
    } else {
      kept_blocks::note_release(capacity);
      kept_blocks::give_back({block, capacity});
    }
  }

  static void release(Block* block, int64_t count) noexcept {
    if (block->live_nodes.fetch_sub(count, std::memory_order_acq_rel) == count) destroy(block);
  }
};

// Owns the bytes of a block for another array.
class Output::BlockKeeper final : public BufferOwner {
 public:
  explicit BlockKeeper(Block* block) noexcept : block_(block) {
    block_->live_nodes.fetch_add(1, std::memory_order_relaxed);
  }
  ~BlockKeeper() override { Block::release(block_, 1); }

 private:
  Block* const block_;
};

namespace {

// The offsets of the parts of a block.
struct Parts {
  int64_t nodes;
  int64_t children;
  int64_t buffers;
  int64_t end;

  Parts(const OutputShape& shape, size_t head)
      : nodes(align_up(static_cast<int64_t>(head), alignof(ArrowArray))),
        children(checked_add(nodes, checked_mul(shape.nodes - 1, sizeof(ArrowArray)))),
        buffers(checked_add(children, checked_mul(shape.children, sizeof(ArrowArray*)))),
        end(checked_add(buffers, checked_mul(shape.buffers, sizeof(const void*)))) {}
};

}  // namespace

Output::Output(const OutputShape& shape) {
  const Parts parts(shape, sizeof(Block));
  auto* const memory = static_cast<char*>(::operator new(static_cast<size_t>(parts.end)));
  std::memset(memory + parts.children, 0, static_cast<size_t>(parts.end - parts.children));
  block_ = new (memory) Block{.live_nodes = 0, .capacity = 0, .owner = nullptr};
  nodes_ = reinterpret_cast<ArrowArray*>(memory + parts.nodes);
  children_ = reinterpret_cast<ArrowArray**>(memory + parts.children);
  buffers_ = reinterpret_cast<const void**>(memory + parts.buffers);
}

[[gnu::hot]] Output::Output(const OutputShape& shape, int64_t bytes) {
  const Parts parts(shape, sizeof(Block));
  const int64_t first_byte = align_up(parts.end, kept_blocks::kAlignment);
  const auto taken = kept_blocks::take(checked_add(first_byte, bytes));
  if (taken.block == nullptr) throw std::bad_alloc();
  auto* const memory = static_cast<char*>(taken.block);
  block_ = new (memory) Block{.live_nodes = 0, .capacity = taken.capacity, .owner = nullptr};
  kept_blocks::note_array(taken.capacity, bytes);
  nodes_ = reinterpret_cast<ArrowArray*>(memory + parts.nodes);
  children_ = reinterpret_cast<ArrowArray**>(memory + parts.children);
  buffers_ = reinterpret_cast<const void**>(memory + parts.buffers);
  bytes_ = reinterpret_cast<uint8_t*>(memory + first_byte);
}

[[gnu::hot]] Output::~Output() {
  if (block_ != nullptr) Block::destroy(block_);
}

[[gnu::hot]] void Output::publish(std::shared_ptr<BufferOwner> owner, ArrowArray* out) noexcept {
  block_->live_nodes.store(added_, std::memory_order_relaxed);
  block_->owner = std::move(owner);
  block_ = nullptr;
  *out = root_;
}

// Releases a node and its remaining descendants. Returns the number of released nodes of the block, so that the shared
// count is lowered only once.
[[gnu::hot]] int64_t Output::release_tree(ArrowArray* node, const Block* block) {
  int64_t released = 1;
  const auto release = [&](ArrowArray* below) {
    if (below->release == release_node && below->private_data == block) {
      if (below->n_children == 0 && below->dictionary == nullptr) {
        below->release = nullptr;
        ++released;
      } else {
        released += release_tree(below, block);
      }
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

[[gnu::hot]] void Output::release_node(ArrowArray* node) {
  auto* const block = static_cast<Block*>(node->private_data);
  Block::release(block, release_tree(node, block));
}

bool is_output(const ArrowArray& array) noexcept { return array.release == Output::release_node; }

std::shared_ptr<BufferOwner> owner_of(const ArrowArray& array) {
  assert(is_output(array));
  auto* const block = static_cast<Output::Block*>(array.private_data);
  return block->capacity == 0 ? block->owner : std::make_shared<Output::BlockKeeper>(block);
}

}  // namespace arrowdevice::array
