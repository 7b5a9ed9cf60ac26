// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses, physical memory that other processes can open, and mappings of it.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "machine/machine.h"
#include "machine/violation.h"

namespace standin {
namespace {

namespace sim = arrowdevice::sim;

constexpr int kFreshByte = 0xA5;
constexpr size_t kFreshSize = 64 * 1024;
constexpr size_t kPage = 4096;

uintptr_t round_up(uintptr_t size, size_t alignment) { return (size + alignment - 1) / alignment * alignment; }

}  // namespace

// The kernel aligns addresses to pages only, so the range is a part of a larger mapping.
uintptr_t Machine::reserve(size_t size) {
  const size_t whole = round_up(size, kPage);
  const size_t most = whole + kGranularity - kPage;
  void* const pages = ::mmap(nullptr, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return 0;
  const auto first = reinterpret_cast<uintptr_t>(pages);
  const uintptr_t range = round_up(first, kGranularity);
  if (range > first) ::munmap(pages, range - first);
  const uintptr_t end = range + whole;
  if (first + most > end) ::munmap(reinterpret_cast<void*>(end), first + most - end);
  const std::lock_guard lock(mutex_);
  return ranges_.emplace(range, size).first->first;
}

void Machine::unreserve(uintptr_t range, size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(range);
  if (found == ranges_.end() || found->second != size) violation("%#zx is not a range of %zu bytes", range, size);
  const auto next = allocations_.lower_bound(range);
  if (next != allocations_.end() && next->first < range + size) violation("the range %#zx has mappings", range);
  ranges_.erase(found);
  ::munmap(reinterpret_cast<void*>(range), size);
}

std::optional<std::pair<uintptr_t, size_t>> Machine::range_of(uintptr_t address) const {
  const std::lock_guard lock(mutex_);
  const auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return std::nullopt;
  const auto& range = *std::prev(next);
  return address - range.first < range.second ? std::optional<std::pair<uintptr_t, size_t>>(range) : std::nullopt;
}

std::shared_ptr<Physical> Machine::create_physical(int device, size_t size) {
  {
    const std::lock_guard lock(mutex_);
    if (size > memory_ - used_[static_cast<size_t>(device)]) return nullptr;
    used_[static_cast<size_t>(device)] += size;
  }
  auto* const made = new Physical{device, sim::Pages::shareable(static_cast<int64_t>(size))};
  std::memset(made->pages->bytes(), kFreshByte, std::min(size, kFreshSize));  // no driver promises zeros
  return {made, [this](Physical* physical) {
            {
              const std::lock_guard lock(mutex_);
              used_[static_cast<size_t>(physical->device)] -= static_cast<size_t>(physical->pages->size());
            }
            delete physical;
          }};
}

std::shared_ptr<Physical> Machine::import_physical(int device, int descriptor) {
  return std::make_shared<Physical>(Physical{device, sim::Pages::open(descriptor), true});
}

uintptr_t Machine::add_handle(std::shared_ptr<Physical> physical) {
  const std::lock_guard lock(mutex_);
  return handles_.emplace(++next_handle_, std::move(physical)).first->first;
}

std::shared_ptr<Physical> Machine::physical_of(uintptr_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) violation("%#zx is no handle of memory", handle);
  return found->second;
}

void Machine::drop_handle(uintptr_t handle) {
  const auto physical = physical_of(handle);  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  handles_.erase(handle);
}

void Machine::map(uintptr_t start, size_t size, std::shared_ptr<Physical> physical) {
  const auto range = range_of(start);
  if (!range || start - range->first + size > range->second) violation("%#zx is not in a reserved range", start);
  const std::lock_guard lock(mutex_);
  const auto next = allocations_.upper_bound(start);
  if (next != allocations_.begin() && start - std::prev(next)->first < std::prev(next)->second.size) {
    violation("%#zx is mapped already", start);
  }
  allocations_.emplace(start, Allocation{.kind = Kind::kDevice,
                                         .device = physical->device,
                                         .start = start,
                                         .size = size,
                                         .pages = physical->pages,
                                         .pool = nullptr,
                                         .made = {},
                                         .used = {},
                                         .is_mapping = true});
  mapped_.emplace(start, std::move(physical));
}

// The driver does not wait for work that uses the memory.
void Machine::unmap(uintptr_t start, size_t size) {
  std::shared_ptr<Physical> physical;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto place = allocations_.find(start);
  if (place == allocations_.end() || !place->second.is_mapping || place->second.size != size) {
    violation("%#zx is not a mapping of %zu bytes", start, size);
  }
  if (!host_.covers(place->second.used, host_)) violation("the mapping %#zx ends while work on it is pending", start);
  allocations_.erase(place);
  const auto found = mapped_.find(start);
  physical = std::move(found->second);
  mapped_.erase(found);
}

void Machine::set_users(uintptr_t start, size_t size, const std::set<int>& users) {
  const std::lock_guard lock(mutex_);
  const auto place = allocations_.find(start);
  if (place == allocations_.end() || !place->second.is_mapping || place->second.size != size) {
    violation("%#zx is not a mapping of %zu bytes", start, size);
  }
  place->second.users.insert(users.begin(), users.end());
}

std::shared_ptr<Physical> Machine::physical_at(uintptr_t start) const {
  const std::lock_guard lock(mutex_);
  const auto found = mapped_.find(start);
  if (found == mapped_.end()) violation("%#zx is not the start of a mapping", start);
  return found->second;
}

}  // namespace standin
