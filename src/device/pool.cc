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
  throw Error(ENOTSUP, device.text() + " has no memory that other processes can open");
}

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
    holders_ = {};
    stats_.used_bytes = 0;
    stats_.cached_bytes = 0;
  }
  if (slabs_ != nullptr) slabs_->forget();
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
