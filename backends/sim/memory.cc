// SPDX-License-Identifier: Apache-2.0
#include "sim/memory.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "sim/handle.h"

namespace arrowdevice::sim {
namespace {

uintptr_t key_of(const void* buffer) { return reinterpret_cast<uintptr_t>(buffer); }

long long printable(int64_t number) { return static_cast<long long>(number); }

}  // namespace

Memory::Memory(std::string owner, bool addresses, int64_t capacity, Statistics& statistics)
    : owner_(std::move(owner)), addresses_(addresses), statistics_(statistics), capacity_(capacity) {}

void* Memory::allocate(int64_t size, int64_t alignment) {
  check_size(size, alignment);
  return add([&] { return std::make_shared<Pages>(size); }, size, Kind::kPlain);
}

void* Memory::allocate_shareable(int64_t size, int64_t alignment) {
  check_size(size, alignment);
  return add([&] { return Pages::shareable(size); }, size, Kind::kShareable);
}

void Memory::check_size(int64_t size, int64_t alignment) const {
  if (size <= 0) throw Error(EINVAL, format("%s: an allocation of %lld bytes", owner_.c_str(), printable(size)));
  if (alignment < 0 || (alignment != 0 && !std::has_single_bit(static_cast<uint64_t>(alignment)))) {
    throw Error(EINVAL, format("%s: the alignment %lld is not a power of two", owner_.c_str(), printable(alignment)));
  }
  if (alignment > Pages::alignment()) {
    throw Error(ENOTSUP, format("%s: an alignment of %lld bytes, more than the %lld of a page", owner_.c_str(),
                                printable(alignment), printable(Pages::alignment())));
  }
}

void* Memory::add(const std::function<std::shared_ptr<Pages>()>& make, int64_t size, Kind kind) {
  const std::lock_guard lock(mutex_);
  if (size > capacity_ - used_) {
    throw Error(ENOMEM,
                format("device memory: %lld bytes on %s, where %lld of %lld are free", printable(size), owner_.c_str(),
                       printable(std::max<int64_t>(capacity_ - used_, 0)), printable(capacity_)));
  }
  auto pages = make();
  void* buffer = addresses_ ? pages->address() : new_handle();
  buffers_.emplace(key_of(buffer),
                   Buffer{.pages = std::move(pages), .offset = 0, .size = size, .parent = nullptr, .kind = kind});
  used_ += size;
  statistics_.update([&](Counters& counters) {
    ++counters.allocations;
    ++counters.allocations_live;
    counters.bytes_live += size;
    counters.bytes_peak = std::max(counters.bytes_peak, counters.bytes_live);
  });
  return buffer;
}

void Memory::deallocate(void* buffer, bool in_use) { deallocate(buffer, in_use, Kind::kPlain); }

void Memory::deallocate_shareable(void* buffer, bool in_use) { deallocate(buffer, in_use, Kind::kShareable); }

void Memory::deallocate(void* buffer, bool in_use, Kind kind) {
  const std::lock_guard lock(mutex_);
  const auto entry = locate_allocation(buffer, kind);
  const int64_t size = entry->second.size;
  const bool busy = erase(entry);
  used_ -= size;
  statistics_.update([&](Counters& counters) {
    --counters.allocations_live;
    counters.bytes_live -= size;
  });
  if (busy && !in_use) refuse(buffer, "is given back without its queue while copies of it are in flight");
}

void Memory::describe(const void* buffer, arrowdevice_memory_record& out) const {
  const std::lock_guard lock(mutex_);
  const auto entry = buffers_.find(key_of(buffer));
  if (entry == buffers_.end() || entry->second.parent != nullptr) refuse(buffer, "is not the start of an allocation");
  auto file = entry->second.pages->duplicate();
  if (!file) refuse(buffer, "is not memory that other processes can open");
  out.descriptor = file.release();
  out.kind = ARROWDEVICE_MEMORY_DESCRIPTOR;
  out.size = entry->second.size;
}

void* Memory::open(const arrowdevice_memory_record& record, int64_t& size) {
  if (record.kind != ARROWDEVICE_MEMORY_DESCRIPTOR) {
    throw Error(EINVAL, format("%s: a record of kind %d", owner_.c_str(), record.kind));
  }
  auto pages = Pages::open(record.descriptor);
  size = pages->size();
  const std::lock_guard lock(mutex_);
  void* buffer = addresses_ ? pages->address() : new_handle();
  buffers_.emplace(
      key_of(buffer),
      Buffer{.pages = std::move(pages), .offset = 0, .size = size, .parent = nullptr, .kind = Kind::kOpened});
  statistics_.update([](Counters& counters) { ++counters.allocations_live; });
  return buffer;
}

void Memory::close(void* buffer, bool in_use) {
  const std::lock_guard lock(mutex_);
  const bool busy = erase(locate_allocation(buffer, Kind::kOpened));
  statistics_.update([](Counters& counters) { --counters.allocations_live; });
  if (busy && !in_use) refuse(buffer, "is closed while copies of it are in flight");
}

Memory::Buffers::iterator Memory::locate_allocation(const void* buffer, Kind kind) {
  const auto entry = locate_exact(buffer, "allocation", false);
  if (entry->second.kind != kind) refuse(buffer, "is given back to another function than that of its allocation");
  if (entry->second.parts != 0) refuse(buffer, "is given back before its sub-buffers");
  return entry;
}

// Returns true if copies still use the pages. A copy holds a reference to them until it is done.
bool Memory::erase(Buffers::iterator entry) {
  const bool busy = entry->second.pages.use_count() > 1;
  buffers_.erase(entry);
  return busy;
}

void* Memory::sub_buffer_create(const void* buffer, int64_t offset, int64_t size) {
  if (size <= 0) throw Error(EINVAL, format("%s: a sub-buffer of %lld bytes", owner_.c_str(), printable(size)));
  const std::lock_guard lock(mutex_);
  const auto [entry, start] = place(buffer, offset, size);
  const Buffer& whole = entry->second;
  if (start % alignment() != 0) {
    throw Error(EINVAL, format("%s: a sub-buffer at byte %lld, which is not aligned to %lld", owner_.c_str(),
                               printable(start), printable(alignment())));
  }
  if (addresses_) return whole.pages->address() + start;

  void* sub = new_handle();
  Buffer part{.pages = whole.pages, .offset = whole.offset + start, .size = size, .parent = const_cast<void*>(buffer)};
  buffers_.emplace(key_of(sub), std::move(part));
  ++buffers_.at(key_of(buffer)).parts;
  statistics_.update([](Counters& counters) {
    ++counters.sub_buffers;
    ++counters.sub_buffers_live;
  });
  return sub;
}

void Memory::sub_buffer_destroy(void* sub) {
  const std::lock_guard lock(mutex_);
  if (addresses_) {
    if (locate(sub) == buffers_.end()) refuse(sub, "is not a live buffer of this device");
    return;
  }
  const auto entry = locate_exact(sub, "sub-buffer", true);
  if (entry->second.parts != 0) refuse(sub, "is given back before its sub-buffers");
  --buffers_.at(key_of(entry->second.parent)).parts;
  buffers_.erase(entry);
  statistics_.update([](Counters& counters) { --counters.sub_buffers_live; });
}

Range Memory::range(const void* buffer, int64_t offset, int64_t size) const {
  const std::lock_guard lock(mutex_);
  const auto [entry, start] = place(buffer, offset, size);
  const Buffer& whole = entry->second;
  return {.pages = whole.pages, .bytes = whole.pages->bytes() + whole.offset + start, .size = size};
}

std::optional<Memory::Allocation> Memory::find(const void* buffer) const {
  const std::lock_guard lock(mutex_);
  const auto entry = locate(buffer);
  if (entry == buffers_.end()) return std::nullopt;
  return Allocation{.base = reinterpret_cast<void*>(entry->first), .size = entry->second.size};
}

int64_t Memory::capacity() const {
  const std::lock_guard lock(mutex_);
  return capacity_;
}

void Memory::set_capacity(int64_t capacity) {
  const std::lock_guard lock(mutex_);
  capacity_ = capacity;
}

Memory::Buffers::const_iterator Memory::locate(const void* buffer) const {
  if (!addresses_) return buffers_.find(key_of(buffer));
  const auto next = buffers_.upper_bound(key_of(buffer));
  if (next == buffers_.begin()) return buffers_.end();
  const auto entry = std::prev(next);
  return key_of(buffer) - entry->first < static_cast<uintptr_t>(entry->second.size) ? entry : buffers_.end();
}

Memory::Buffers::iterator Memory::locate_exact(const void* buffer, const char* noun, bool part) {
  const auto entry = buffers_.find(key_of(buffer));
  if (entry == buffers_.end() || (entry->second.parent != nullptr) != part) {
    refuse(buffer, format("is not a live %s of this device", noun).c_str());
  }
  return entry;
}

Memory::Place Memory::place(const void* buffer, int64_t offset, int64_t size) const {
  const auto entry = locate(buffer);
  if (entry == buffers_.end()) refuse(buffer, "is not a live buffer of this device");
  const int64_t start = static_cast<int64_t>(key_of(buffer) - entry->first);  // 0 for a handle
  const int64_t rest = entry->second.size - start;
  if (offset < 0 || size < 0 || offset > rest || size > rest - offset) {
    throw Error(EINVAL, format("%s: %lld bytes at byte %lld lie outside of a buffer of %lld", owner_.c_str(),
                               printable(size), printable(offset), printable(rest)));
  }
  return {.entry = entry, .offset = start + offset};
}

void Memory::refuse(const void* buffer, const char* what) const {
  throw Error(EINVAL, format("%s: %p %s", owner_.c_str(), buffer, what));
}

}  // namespace arrowdevice::sim
