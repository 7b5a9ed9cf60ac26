// SPDX-License-Identifier: Apache-2.0
// The memory that a pool gets from the driver or from the application, and returns to it.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/process.h"
#include "base/text.h"
#include "base/trace.h"
#include "device/deferred.h"
#include "device/pool.h"
#include "device/queue.h"

namespace arrowdevice::device {
namespace {

// Returns memory to the driver. `slabs` is NULL for memory without slabs.
void free_memory(Device& device, Pool::Memory memory, Slabs* slabs, void* buffer) noexcept {
  const auto freed = slabs != nullptr ? slabs->free(buffer) : Slabs::Freed{};
  if (freed.is_of_slab) buffer = freed.slab;
  if (buffer == nullptr) return;  // other blocks of the slab are used
  switch (memory) {
    case Pool::kStagingMemory: return device.staging_free(buffer);
    case Pool::kShareableMemory: return device.shareable_free(buffer);
    case Pool::kDeviceMemory: return device.driver_deallocate(buffer);
  }
}

// A block that goes to the driver after its last use.
struct DeferredBlock final : public Deferred {
  DeferredBlock(Device& its_device, Pool::Memory its_memory, std::shared_ptr<Slabs> its_slabs,
                std::shared_ptr<std::atomic<int64_t>> its_counter)
      : use(its_device),
        device(its_device),
        memory(its_memory),
        slabs(std::move(its_slabs)),
        counter(std::move(its_counter)) {}
  ~DeferredBlock() override {
    for (const auto& sub : block.sub_buffers) device.sub_buffer_destroy(sub.handle);
    free_memory(device, memory, slabs.get(), block.buffer);
    *counter -= block.capacity;
  }

  const DeviceUse use;  // outlives the block
  Device& device;
  const Pool::Memory memory;
  const std::shared_ptr<Slabs> slabs;
  const std::shared_ptr<std::atomic<int64_t>> counter;
  Block block;
};

}  // namespace

void Pool::allocate_block(Queue* queue, int64_t capacity, Holder holder, Block& block) {
  trace::Span growth("memory", "pool growth");
  reserve(capacity);
  try {
    block.buffer = ask_driver(queue, capacity);
    block.capacity = capacity;
    block.generation = process::generation();
    block.is_behind_queue = queue != nullptr && options_.allocate == nullptr && device_.is_stream_ordered();
  } catch (const Error& error) {
    unreserve(capacity);
    if (error.code() != ENOMEM) throw;
    throw Error(ENOMEM, error.message() + "; " + usage_text(capacity), error.backend(), error.native_code());
  } catch (...) {
    unreserve(capacity);
    throw;
  }
  {
    const std::lock_guard lock(mutex_);
    ++stats_.driver_allocations;
    note_allocation(holder, capacity);
  }
  report(growth, capacity);
}

void Pool::unreserve(int64_t capacity) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.used_bytes -= capacity;
}

// Counts a new block as used, within the limit. If the limit requires it, frees the memory of deferred work that has
// finished, and the cached memory.
void Pool::reserve(int64_t capacity) {
  const auto fits = [&] {
    const int64_t held = stats_.used_bytes + stats_.cached_bytes + *waiting_bytes_;
    return options_.max_bytes == 0 || held + capacity <= options_.max_bytes;
  };
  std::unique_lock lock(mutex_);
  if (!fits()) {
    lock.unlock();
    DeferredWork::instance().reclaim();
    free_cached();
    lock.lock();
  }
  if (!fits()) {
    lock.unlock();
    throw Error(ENOMEM, "the pool's limit is reached; " + usage_text(capacity));
  }
  stats_.used_bytes += capacity;
  stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.used_bytes + stats_.cached_bytes);
}

// Sets the queue to NULL if the memory is ready for all queues.
void* Pool::ask_driver(Queue*& queue, int64_t capacity) {
  try {
    return ask_driver_once(queue, capacity);
  } catch (const Error& e) {
    if (e.code() != ENOMEM) throw;
    const bool is_reclaimed = DeferredWork::instance().reclaim();
    if (!is_reclaimed && stats().cached_bytes == 0 && device_.hidden_cached_bytes() == 0) throw;
  }
  trim();
  return ask_driver_once(queue, capacity);
}

void* Pool::ask_driver_once(Queue*& queue, int64_t capacity) {
  if (memory_ == kStagingMemory) return device_.staging_allocate(capacity);
  if (memory_ == kShareableMemory) return allocate_shareable(queue, capacity);
  if (options_.allocate == nullptr) {
    if (queue != nullptr && device_.is_stream_ordered()) {
      try {
        return device_.driver_allocate(queue, capacity);
      } catch (const Error& error) {
        if (error.code() != EBUSY) throw;
      }
      queue = nullptr;  // an application is capturing it
    }
    return device_.driver_allocate(queue, capacity);
  }
  device_.check_usable();
  std::optional<Queue::NativeUse> native_queue;
  if (queue != nullptr && device_.backend().table().queue_get_native != nullptr) native_queue.emplace(*queue);
  void* buffer = nullptr;
  const int code = options_.allocate(options_.user, capacity, device_.info().buffer_alignment,
                                     native_queue ? native_queue->queue() : nullptr, &buffer);
  if (code != 0 || buffer == nullptr) {
    throw Error(code != 0 ? code : ENOMEM, format("the application's allocator gave no memory (%lld bytes on %s)",
                                                  static_cast<long long>(capacity), device_.text().c_str()));
  }
  return buffer;
}

void* Pool::allocate_shareable(Queue*& queue, int64_t capacity) {
  if (slabs_ == nullptr || capacity > Slabs::kLargest) return device_.shareable_allocate(queue, capacity);
  queue = nullptr;  // a slab serves all queues
  return slabs_->allocate(capacity, [&] { return device_.shareable_allocate(nullptr, Slabs::kSlab); });
}

void Pool::to_driver(Block& block) noexcept {
  if (block.last_use != nullptr && !block.last_use->has_ended()) {
    try {
      auto work = std::make_unique<DeferredBlock>(device_, memory_, slabs_, waiting_bytes_);
      work->after = std::move(block.last_use);
      work->block = std::move(block);
      *waiting_bytes_ += work->block.capacity;
      DeferredWork::instance().defer(std::move(work));
    } catch (const std::bad_alloc&) {
      log(LogLevel::kError, "memory of a pool is lost, because there is no memory to wait for its last use");
    }
    return;
  }
  for (const auto& sub : block.sub_buffers) device_.sub_buffer_destroy(sub.handle);
  if (options_.deallocate == nullptr) {
    free_memory(device_, memory_, slabs_.get(), block.buffer);
  } else if (may_call_out()) {
    options_.deallocate(options_.user, block.buffer, block.capacity, nullptr);
  }
}

}  // namespace arrowdevice::device
