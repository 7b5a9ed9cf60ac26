// SPDX-License-Identifier: Apache-2.0
#include "device/slabs.h"

#include <iterator>
#include <utility>

namespace arrowdevice::device {

Slabs::Slabs(bool usable_across_fork) {
  if (usable_across_fork) usable_across_fork_.emplace(mutex_);
}

void* Slabs::allocate(int64_t capacity, const std::function<void*()>& allocate) {
  if (void* const block = take(capacity)) return block;
  NewSlab slab = prepare(capacity);
  slab.place.front() = static_cast<char*>(allocate());
  return add(std::move(slab));
}

void* Slabs::take(int64_t capacity) noexcept {
  const std::lock_guard lock(mutex_);
  const auto partly = partly_.find(capacity);
  if (partly == partly_.end() || partly->second.empty()) return nullptr;
  char* const memory = partly->second.back();
  Slab& slab = slabs_.find(memory)->second;
  const int64_t number = slab.unused.back();
  slab.unused.pop_back();
  if (slab.unused.empty()) full_.splice(full_.end(), partly->second, slab.place);
  return memory + number * capacity;
}

// Allocates all that the slab needs here, so that its memory cannot be lost later.
Slabs::NewSlab Slabs::prepare(int64_t capacity) {
  const auto all = static_cast<size_t>(kSlab / capacity);
  std::vector<uint32_t> unused(all);
  for (size_t i = 0; i < all; ++i) unused[i] = static_cast<uint32_t>(all - 1 - i);  // the first is taken first
  NewSlab slab;
  slab.place.push_back(nullptr);
  std::map<char*, Slab> entry;
  entry.emplace(nullptr, Slab{capacity, std::move(unused), all, slab.place.begin()});
  slab.entry = entry.extract(entry.begin());
  const std::lock_guard lock(mutex_);
  partly_.try_emplace(capacity);
  return slab;
}

// Adds a slab, and takes its first block before another thread can.
void* Slabs::add(NewSlab slab) noexcept {
  char* const memory = slab.place.front();
  slab.entry.key() = memory;
  slab.entry.mapped().unused.pop_back();
  const std::lock_guard lock(mutex_);
  auto& partly = partly_.find(slab.entry.mapped().capacity)->second;
  slabs_.insert(std::move(slab.entry));
  partly.splice(partly.end(), slab.place);
  return memory;
}

Slabs::Freed Slabs::free(void* block) noexcept {
  auto* const address = static_cast<char*>(block);
  const std::lock_guard lock(mutex_);
  const auto above = slabs_.upper_bound(address);
  if (above == slabs_.begin()) return {};
  const auto found = std::prev(above);
  if (address - found->first >= kSlab) return {};
  Slab& slab = found->second;
  auto& partly = partly_.find(slab.capacity)->second;
  if (slab.unused.empty()) partly.splice(partly.end(), full_, slab.place);
  slab.unused.push_back(static_cast<uint32_t>((address - found->first) / slab.capacity));
  if (slab.unused.size() < slab.all) return {true, nullptr};
  partly.erase(slab.place);
  void* const memory = found->first;
  slabs_.erase(found);
  return {true, memory};
}

void Slabs::forget() noexcept {
  const std::lock_guard lock(mutex_);
  slabs_.clear();
  full_.clear();
  for (auto& partly : partly_) partly.second.clear();  // another thread may be about to add a slab
}

}  // namespace arrowdevice::device
