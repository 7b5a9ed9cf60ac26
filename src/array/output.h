// SPDX-License-Identifier: Apache-2.0
// The arrays that the library returns. All structs and pointers of an array are in one block of host memory, which
// lives until the last node is released. Every child has its own release, so a consumer may move a child out and
// release the parent.
#pragma once

#include <arrowdevice/abi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace arrowdevice::array {

// Owner of an array's buffers: memory, events, the producer's array. It is destroyed with the last node of the last
// array that uses it. Its destructor must neither block nor throw.
class BufferOwner {
 public:
  virtual ~BufferOwner() = default;
};

// Numbers of structs and pointers of an array.
struct OutputShape {
  int64_t nodes = 0;     // the root included
  int64_t children = 0;  // pointers to children, over all nodes
  int64_t buffers = 0;   // pointers to buffers, over all nodes
};

// An array that is being built. The destructor frees an array that was not published.
class Output {
 public:
  explicit Output(const OutputShape& shape);
  // Makes room for the bytes of the buffers in the same block. The caller sets all pointers. The array owns
  // its bytes and needs no other owner. Throws std::bad_alloc if kept_blocks has no block of that size.
  Output(const OutputShape& shape, int64_t bytes);
  ~Output();
  Output(Output&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        root_(other.root_),
        nodes_(other.nodes_),
        children_(other.children_),
        buffers_(other.buffers_),
        bytes_(other.bytes_),
        added_(other.added_) {}
  Output& operator=(Output&&) = delete;

  // Returns the next node. The root comes first, and its address is valid until the output is moved. The node's
  // `n_buffers` and `n_children` pointers are NULL, its numbers are 0.
  ArrowArray& add_node(int64_t n_buffers, int64_t n_children) noexcept {
    ArrowArray& node = added_++ == 0 ? root_ : *nodes_++;
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

  // Returns the room for the bytes, which is aligned to 64 bytes.
  uint8_t* bytes() const noexcept { return bytes_; }

  // Publishes the array to `out`. All nodes of the shape must have been added. `owner` may be NULL.
  void publish(std::shared_ptr<BufferOwner> owner, ArrowArray* out) noexcept;

 private:
  struct Block;
  class BlockKeeper;

  static void release_node(ArrowArray* node);
  static int64_t release_tree(ArrowArray* node, const Block* block);
  friend bool is_output(const ArrowArray& array) noexcept;
  friend std::shared_ptr<BufferOwner> owner_of(const ArrowArray& array);

  Block* block_;
  ArrowArray root_{};
  ArrowArray* nodes_;  // the next node that is not the root
  ArrowArray** children_;
  const void** buffers_;
  uint8_t* bytes_ = nullptr;
  int64_t added_ = 0;
};

// Returns true if the array is an output of this copy of the library. A process may have several copies.
bool is_output(const ArrowArray& array) noexcept;

// Returns an owner of an output's buffers.
std::shared_ptr<BufferOwner> owner_of(const ArrowArray& array);

}  // namespace arrowdevice::array
