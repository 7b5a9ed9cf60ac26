// SPDX-License-Identifier: Apache-2.0
// The arrays that the library hands out: all structs and pointers of one array in one block of host memory, which lives
// until the last of its nodes is released. Every child has a release of its own, so a consumer may move one out and
// release the parent.
#pragma once

#include <arrowdevice/abi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace arrowdevice::array {

// What the buffers of an array live on: memory, events, the producer's array. Destroyed with the last node of the last
// array that uses it; its destructor must neither block nor throw.
class BufferOwner {
 public:
  virtual ~BufferOwner() = default;
};

// How many structs and pointers an array takes.
struct OutputShape {
  int64_t nodes = 0;     // the root included
  int64_t children = 0;  // pointers to children, over all nodes
  int64_t buffers = 0;   // pointers to buffers, over all nodes
};

// An array that is being built. Until publish() it frees itself.
class Output {
 public:
  explicit Output(const OutputShape& shape);
  ~Output();
  Output(Output&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        root_(other.root_),
        nodes_(other.nodes_),
        children_(other.children_),
        buffers_(other.buffers_),
        added_(other.added_) {}
  Output& operator=(Output&&) = delete;

  // The next node: the root first, which stays only until the output is moved. Its `n_buffers` and `n_children`
  // pointers are NULL, its numbers are 0.
  ArrowArray& add_node(int64_t n_buffers, int64_t n_children) noexcept {
    ArrowArray& node = added_ == 0 ? root_ : nodes_[added_ - 1];
    ++added_;
    node = {.length = 0,
            .null_count = 0,
            .offset = 0,
            .n_buffers = n_buffers,
            .n_children = n_children,
            .buffers = n_buffers > 0 ? buffers_ : nullptr,
            .children = n_children > 0 ? children_ : nullptr,
            .dictionary = nullptr,
            .release = release_node,
            .private_data = block_};
    buffers_ += n_buffers;
    children_ += n_children;
    return node;
  }

  // Hands the array over. All nodes of the shape must have been added; `keeper` may be NULL.
  void publish(std::shared_ptr<BufferOwner> keeper, ArrowArray* out) noexcept;

 private:
  struct Block;

  static void release_node(ArrowArray* node);
  static int64_t release_tree(ArrowArray* node, const Block* block);
  friend bool is_output(const ArrowArray& array) noexcept;
  friend const std::shared_ptr<BufferOwner>& keeper_of(const ArrowArray& array) noexcept;

  Block* block_;
  ArrowArray root_{};
  ArrowArray* nodes_;  // all but the root
  ArrowArray** children_;
  const void** buffers_;
  int64_t added_ = 0;
};

// Whether an array is one of this library's own (of this copy of it, if there are several in the process).
bool is_output(const ArrowArray& array) noexcept;

// What an array of the library's own lives on.
const std::shared_ptr<BufferOwner>& keeper_of(const ArrowArray& array) noexcept;

}  // namespace arrowdevice::array
