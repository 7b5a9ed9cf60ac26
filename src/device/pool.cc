// SPDX-License-Identifier: Apache-2.0
#include "device/pool.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/kept_blocks.h"
#include "base/log.h"
#include "base/process.h"
#include "base/size_class.h"
#include "base/text.h"
#include "base/trace.h"
#include "device/deferred.h"
#include "device/queue.h"

namespace arrowdevice::device {
namespace {

constexpr int64_t kCachedOfHostMemory = int64_t{1} << 30;
constexpr int64_t kPartOfFreeMemory = 4;
constexpr int64_t kPartOfAllMemory = 8;

int64_t default_cache_limit(const Device& device, Pool::Memory memory) {
  int64_t free_bytes = -1;
  int64_t total_bytes = -1;
  try {
    device.memory_info(&free_bytes, &total_bytes);
  } catch (const Error&) {
    free_bytes = -1;  // a device that cannot report its free memory gets the fixed limit
  }
  if (free_bytes < 0) return kCachedOfHostMemory;
  const bool is_of_host = device.is_on_host() || memory == Pool::kStagingMemory;
  const int64_t of_device = is_of_host ? 0 : total_bytes / kPartOfAllMemory;
  return std::min(std::max(kCachedOfHostMemory, of_device), free_bytes / kPartOfFreeMemory);
}

Pool::Memory memory_of(const arrowdevice_pool_options& options, Pool::Memory memory) {
  return (options.flags & ARROWDEVICE_POOL_SHAREABLE) != 0 ? Pool::kShareableMemory : memory;
}

void check_shareable(const Device& device, const arrowdevice_pool_options& options) {
  if (options.allocate != nullptr) throw Error(EINVAL, "POOL_SHAREABLE and an allocator rule each other out");
  if (device.has_shareable_memory()) return;
  throw Error(ENOTSUP, "the backend of " + device.text() + " has no memory that other processes can open");
}

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

Pool::Pool(Device& device, const arrowdevice_pool_options& options, Owner owner, Memory memory)
    : device_(device),
      options_(options),
      memory_(memory_of(options, memory)),
      creator_(getpid()),
      use_(owner == kApplicationOwned ? std::optional<DeviceUse>(std::in_place, device) : std::nullopt),
      cache_limit_(options.max_cached_bytes < 0   ? 0
                   : options.max_cached_bytes > 0 ? options.max_cached_bytes
                                                  : default_cache_limit(device, memory)),
      waiting_bytes_(std::make_shared<std::atomic<int64_t>>(0)),
      slabs_(is_shareable() && device.has_addresses() ? std::make_shared<Slabs>(device.is_cpu()) : nullptr) {
  if ((options.allocate == nullptr) != (options.deallocate == nullptr)) {
    throw Error(EINVAL, "the pool's allocate and deallocate come together, but only one is there");
  }
  if (options.max_bytes < 0) throw Error(EINVAL, "max_bytes is negative");
  if (is_shareable()) {
    check_shareable(device, options);
    generation_ = process::generation();
  }
  if ((options.flags & ARROWDEVICE_POOL_WAIT_FOR_CONTEXT) != 0) {
    if (options.allocate != nullptr) throw Error(EINVAL, "POOL_WAIT_FOR_CONTEXT and an allocator rule each other out");
    device.record_event();  // throws if the driver cannot
  }
  if (device.is_cpu()) process::keep_usable_across_fork(mutex_);
}

Pool::~Pool() {
  if (device_.is_cpu()) process::forget_across_fork(mutex_);
  free_cached();
  if (options_.destroy != nullptr && may_call_out() && getpid() == creator_) options_.destroy(options_.user);
}

// The blocks of copies on the CPU belong to the CPU's own pool.
bool Pool::has_kept_blocks() const noexcept {
  return device_.is_cpu() && !use_.has_value() && memory_ == kDeviceMemory;
}

kept_blocks::Stats Pool::kept_stats() const noexcept {
  return has_kept_blocks() ? kept_blocks::stats() : kept_blocks::Stats{};
}

bool Pool::may_call_out() const noexcept { return device_.is_usable() && !process::exit_has_begun(); }

Allocation Pool::allocate(Queue* queue, int64_t size, Holder holder) {
  const int64_t capacity = size_class(size);
  if (is_shareable()) forget_parents_memory();
  Block block = take_cached(queue, capacity, holder);
  if (block.buffer == nullptr) allocate_block(queue, capacity, holder, block);
  block.holder = holder;
  return {shared_from_this(), std::move(block)};
}

// In a forked child, forgets the cached blocks of the parent, which may use them again.
void Pool::forget_parents_memory() {
  const int generation = process::generation();
  {
    const std::lock_guard lock(mutex_);
    if (generation_ == generation) return;
    generation_ = generation;
    cached_.clear();
    stats_.cached_bytes = 0;
  }
  if (slabs_ != nullptr) slabs_->forget();
}

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

// Describes the pool for the message of a request that failed.
std::string Pool::usage_text(int64_t requested) const {
  const auto kept = kept_stats();
  const std::lock_guard lock(mutex_);
  const int64_t waiting_bytes = *waiting_bytes_;
  Holders all = holders_;
  all.add(Holder::kCopies, kept.used_bytes, kept.live_arrays);
  const std::string limit = options_.max_bytes == 0 ? "no limit" : "limit " + size_text(options_.max_bytes);
  const std::string holders = all.text(waiting_bytes);
  return "pool of " + device_.text() + ": " + bytes_text(requested) + " requested, " + limit + ", " +
         size_text(stats_.used_bytes + waiting_bytes + kept.used_bytes) + " used" +
         (holders.empty() ? "" : " (" + holders + ")") + ", " + size_text(stats_.cached_bytes + kept.cached_bytes) +
         " cached";
}

void Pool::report(trace::Span& growth, int64_t bytes) const noexcept {
  growth.end([&] {
    const auto now = stats();
    const std::string device = device_.text();
    trace::Facts facts;
    facts.add("device", device).add("bytes", bytes);
    facts.add("used_bytes", now.used_bytes).add("cached_bytes", now.cached_bytes);
    facts.log_as(format("a pool of %s grew by %lld bytes to %lld, of which %lld are used", device.c_str(),
                        static_cast<long long>(bytes), static_cast<long long>(now.used_bytes + now.cached_bytes),
                        static_cast<long long>(now.used_bytes)));
    return facts;
  });
}

// Needs the mutex.
void Pool::note_allocation(Holder holder, int64_t capacity) noexcept {
  ++stats_.allocations;
  holders_.add(holder, capacity);
}

// Returns a cached block of this size that is unused, or a block without a buffer if there is none. Blocks become
// unused in about the order in which they were returned, so only one is asked for.
Block Pool::take_cached(const Queue* queue, int64_t capacity, Holder holder) {
  CachedList node;
  Block block = pop_cached(queue, capacity, holder, node);
  if (node.empty()) return block;
  Block& asked = node.front().block;
  const bool has_ended = asked.last_use->has_ended();
  {
    const std::lock_guard lock(mutex_);
    if (has_ended) {
      note_allocation(holder, capacity);
      block = std::move(asked);
      spare_.splice(spare_.begin(), node);
    } else {
      stats_.used_bytes -= capacity;
      const auto found = cached_.find(capacity);
      if (found != cached_.end()) {
        stats_.cached_bytes += capacity;
        found->second.splice(found->second.begin(), node);
        return {};
      }
    }
  }
  if (!has_ended) {
    to_driver(asked);  // the pool was trimmed meanwhile
    return {};
  }
  block.last_use = nullptr;
  block.used_by = 0;
  return block;
}

// Takes a block and counts it as used. Returns it if `queue` may use it, and otherwise a block without a buffer, with
// the block in `node` if its event must be asked. Waiting blocks are taken from the oldest on, others from the newest,
// which are in caches. The list of the size stays, even if it is empty.
Block Pool::pop_cached(const Queue* queue, int64_t capacity, Holder holder, CachedList& node) {
  const std::lock_guard lock(mutex_);
  const auto found = cached_.find(capacity);
  if (found == cached_.end() || found->second.empty()) return {};
  auto& blocks = found->second;
  const bool waits = blocks.back().block.last_use != nullptr;
  const auto place = waits ? blocks.begin() : std::prev(blocks.end());
  stats_.cached_bytes -= capacity;
  stats_.used_bytes += capacity;
  // The queue's later work runs after the last use. It may not follow, so the block keeps the event.
  const bool is_in_order = queue != nullptr && place->block.used_by == queue->id();
  if (place->block.last_use != nullptr && !is_in_order) {
    node.splice(node.begin(), blocks, place);
    return {};
  }
  note_allocation(holder, capacity);
  Block block = std::move(place->block);
  if (!is_in_order) block.used_by = 0;
  spare_.splice(spare_.begin(), blocks, place);
  return block;
}

// Counts a new block as used, within the limit. Frees the cached memory if the limit requires it.
void Pool::reserve(int64_t capacity) {
  const auto fits = [&] {
    const int64_t held = stats_.used_bytes + stats_.cached_bytes + *waiting_bytes_;
    return options_.max_bytes == 0 || held + capacity <= options_.max_bytes;
  };
  std::unique_lock lock(mutex_);
  if (!fits() && stats_.cached_bytes > 0) {
    lock.unlock();
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
    const bool has_cached_memory = stats().cached_bytes > 0;
    if (e.code() != ENOMEM || !has_cached_memory) throw;
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

void Pool::take_back(Block& block) noexcept {
  block.is_behind_queue = false;
  // The function does not take the lock either: in a forked child, a thread that does not exist may hold it.
  if (!device_.is_usable()) return;
  if (is_shareable() && block.generation != process::generation()) return;  // the parent's
  if (!record_last_use(block)) return;
  CachedList evicted;
  bool is_cached = false;
  try {
    is_cached = cache(block, evicted);
  } catch (const std::bad_alloc&) {
    is_cached = false;  // no memory for the list entry, so the driver gets the block
  }
  for (auto& old : evicted) to_driver(old.block);
  if (!is_cached) to_driver(block);
}

// Returns false if the driver cannot tell when the block is unused. It is then never used again.
bool Pool::record_last_use(Block& block) noexcept {
  if ((options_.flags & ARROWDEVICE_POOL_WAIT_FOR_CONTEXT) == 0) return true;
  try {
    block.last_use = device_.record_event();
    return true;
  } catch (const std::exception& error) {
    log(LogLevel::kError, "memory of a pool that waits for its context is not used again:");
    log(LogLevel::kError, error.what());
  }
  const std::lock_guard lock(mutex_);
  stats_.used_bytes -= block.capacity;
  holders_.remove(block.holder, block.capacity);
  return false;
}

// Counts a block as unused and caches it if the limit allows. The oldest blocks are evicted for it. Steps that can fail
// come before any change to the cached blocks.
bool Pool::cache(Block& block, CachedList& evicted) {
  const int64_t capacity = block.capacity;
  const std::lock_guard lock(mutex_);
  stats_.used_bytes -= capacity;
  holders_.remove(block.holder, capacity);
  if (capacity > cache_limit_ || !may_call_out()) return false;
  CachedList node;
  if (spare_.empty()) {
    node.emplace_back();
  } else {
    node.splice(node.begin(), spare_, spare_.begin());
  }
  auto& same_size = cached_[capacity];
  node.front() = {std::move(block), next_stamp_};
  same_size.splice(same_size.end(), node);
  ++next_stamp_;
  stats_.cached_bytes += capacity;
  while (stats_.cached_bytes > cache_limit_) {
    const auto oldest = std::ranges::min_element(
        cached_, {}, [](const auto& entry) { return entry.second.empty() ? INT64_MAX : entry.second.front().stamp; });
    stats_.cached_bytes -= oldest->first;
    evicted.splice(evicted.end(), oldest->second, oldest->second.begin());
    if (oldest->second.empty()) cached_.erase(oldest);
  }
  return true;
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

void Pool::trim() noexcept {
  free_cached();
  device_.driver_trim();
}

void Pool::free_cached() noexcept {
  if (has_kept_blocks()) kept_blocks::trim();
  std::map<int64_t, CachedList> all;
  CachedList spare;
  {
    const std::lock_guard lock(mutex_);
    all.swap(cached_);
    spare.swap(spare_);
    stats_.cached_bytes = 0;
  }
  for (auto& same_size : all) {
    for (auto& one : same_size.second) to_driver(one.block);
  }
}

PoolStats Pool::stats() const {
  const auto kept = kept_stats();
  const std::lock_guard lock(mutex_);
  PoolStats stats = stats_;
  stats.used_bytes += *waiting_bytes_ + kept.used_bytes;
  stats.cached_bytes += kept.cached_bytes;
  stats.allocations += kept.arrays;
  peak_with_kept_ = std::max(peak_with_kept_, stats.used_bytes + stats.cached_bytes);
  stats.peak_bytes = std::max(stats.peak_bytes, peak_with_kept_);
  return stats;
}

}  // namespace arrowdevice::device
