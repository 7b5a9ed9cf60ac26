// SPDX-License-Identifier: Apache-2.0
// An allocation from a pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "device/holders.h"

namespace arrowdevice::device {

class Event;
class Pool;
class Queue;

// A region of a block as a buffer of its own, on devices with handles.
struct SubBuffer {
  int64_t offset;
  int64_t size;
  void* handle;
};

// A driver allocation. Its sub-buffers stay with it when it is reused, because consecutive tables usually have the same
// layout. Creating a handle costs a driver more than filling it.
struct Block {
  void* buffer = nullptr;
  int64_t capacity = 0;
  std::vector<SubBuffer> sub_buffers;
  bool is_behind_queue = false;  // new, and not there before the work of the queue that allocated it
  Holder holder = Holder::kApplication;
  std::shared_ptr<Event> last_use;  // other queues may use the block when this has fired; NULL: at once
  uint64_t used_by = 0;             // the queue that may use the block before that, 0 if there is none
  int generation = 0;               // of the process that allocated it, for shareable memory
};

// A block of a pool's memory. The destructor returns it to the pool, and from then on its user must not touch the
// memory.
class Allocation {
 public:
  Allocation() = default;
  Allocation(std::shared_ptr<Pool> pool, Block block) noexcept : pool_(std::move(pool)), block_(std::move(block)) {}
  ~Allocation() { reset(); }
  Allocation(Allocation&& other) noexcept
      : pool_(std::move(other.pool_)),
        block_(std::exchange(other.block_, {})),
        next_sub_buffer_(other.next_sub_buffer_) {}
  Allocation& operator=(Allocation&& other) noexcept {
    if (this != &other) {
      reset();
      pool_ = std::move(other.pool_);
      block_ = std::exchange(other.block_, {});
      next_sub_buffer_ = other.next_sub_buffer_;
    }
    return *this;
  }

  void* buffer() const noexcept { return block_.buffer; }
  int64_t capacity() const noexcept { return block_.capacity; }
  explicit operator bool() const noexcept { return block_.buffer != nullptr; }
  void reset() noexcept;

  // Lets other queues use the memory later, but only after the work that the queue has now. The user of the memory
  // calls this unless it waits for work of the queue that uses the memory. `queue` is the queue that allocated it.
  // Throws if the driver cannot tell when its work ends. The memory is then never used again.
  void order_after(Queue& queue);

  // Returns true if a queue may use the block again before its own work on it has ended. An application's allocator
  // gets only unused memory, and a pool may wait for more than the queue.
  bool may_be_reused_in_order() const noexcept;

  // Returns the block before its last use has ended. The queue with that id, which does the work before `last_use`, may
  // use it at once. Requires may_be_reused_in_order().
  void reset_behind(std::shared_ptr<Event> last_use, uint64_t queue) noexcept;

  // Returns a region of the block as a buffer, which is valid as long as the allocation. On devices with handles, the
  // caller asks for the regions in order and for each region once.
  void* sub_buffer(int64_t offset, int64_t size);

 private:
  void* sub_buffer_with_handle(int64_t offset, int64_t size);

  std::shared_ptr<Pool> pool_;
  Block block_;
  size_t next_sub_buffer_ = 0;
};

}  // namespace arrowdevice::device
