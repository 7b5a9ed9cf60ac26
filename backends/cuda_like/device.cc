// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/device.h"

#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <exception>
#include <iterator>

#include "base/checked.h"
#include "cuda_like/queue.h"

namespace arrowdevice::cuda_like {
namespace {

constexpr uint32_t kCopy = ARROWDEVICE_PEER_COPY;
constexpr uint32_t kAccess = ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;

// Host memory has the same address on every GPU. Pinned memory is portable, and managed memory migrates to its users.
uint32_t peer_flags_from_host_memory(const Device& from, const Device& to) {
  const bool everywhere = from.kind == MemoryKind::kPinned || from.gpu.properties().shares_managed_memory;
  const bool there = everywhere || &from.gpu == &to.gpu;
  if (!there) return kCopy;
  if (to.kind == from.kind) return kAccess;
  if (to.kind != MemoryKind::kDevice) return kCopy;
  return from.kind == MemoryKind::kPinned ? kAccess | ARROWDEVICE_PEER_REMOTE : kAccess;
}

uint32_t peer_flags_between_gpus(const Device& from, const Device& to) {
  if (&from.gpu == &to.gpu) return kAccess;
  if (from.gpu.ordinal() == to.gpu.ordinal()) return kCopy;  // two contexts of one GPU
  const bool are_peers =
      to.gpu.use([&](Driver& driver) { return driver.can_access_peer(to.gpu.ordinal(), from.gpu.ordinal()); });
  // The library does not enable peer access between contexts, because this would change the application's contexts. The
  // result therefore lacks ACCESS.
  return are_peers ? kCopy : 0;
}

// Runs `prepare`, and `free` if that throws.
template <typename Prepare, typename Free>
void free_if_thrown(Prepare&& prepare, Free&& free) {
  try {
    prepare();
  } catch (...) {
    free();
    throw;
  }
}

}  // namespace

void* Memory::allocate(const Queue* queue, int64_t size, int64_t alignment) {
  free_unused();
  return gpu_.use([&](Driver& driver) {
    if (!is_stream_ordered()) {
      void* const memory = driver.allocate(kind_, size);
      free_if_thrown([&] { check_alignment(memory, alignment); }, [&] { driver.free(kind_, memory); });
      return memory;
    }
    const Stream own = gpu_.memory_stream();  // frees the memory later, where nothing may fail
    if (queue != nullptr) queue->check_not_capturing(driver);
    const Stream order = queue != nullptr ? queue->stream() : own;
    void* const memory = driver.allocate_from(gpu_.pool(), order, size);
    const auto prepare = [&] {
      check_alignment(memory, alignment);
      // Other streams can use the memory only after this call. The call takes no time, because no other work is
      // enqueued on this stream.
      if (queue == nullptr) driver.synchronize(order);
      remember(memory, size);
    };
    free_if_thrown(prepare, [&] { driver.free_on(order, memory); });
    return memory;
  });
}

void Memory::check_alignment(const void* memory, int64_t alignment) const {
  if (reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(alignment) == 0) return;
  throw Error(ENOTSUP, format("GPU %d gave memory that is not aligned to %lld bytes", gpu_.ordinal(),
                              static_cast<long long>(alignment)));
}

void Memory::remember(const void* memory, int64_t size) {
  const std::lock_guard lock(mutex_);
  of_pool_.emplace(static_cast<const char*>(memory), size);
}

void Memory::forget(const void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  of_pool_.erase(static_cast<const char*>(memory));
}

bool Memory::is_of_pool(const void* address) { return has(of_pool_, address); }

bool Memory::has(const Sizes& sizes, const void* address) {
  const auto* const asked = static_cast<const char*>(address);
  const std::lock_guard lock(mutex_);
  const auto next = sizes.upper_bound(asked);
  if (next == sizes.begin()) return false;
  const auto& [start, size] = *std::prev(next);
  return asked - start < size;
}

std::vector<int> Memory::users(Driver& driver) const {
  std::vector<int> all{gpu_.ordinal()};
  for (int other = 0; other < driver.device_count(); ++other) {
    if (other != gpu_.ordinal() && driver.can_access_peer(other, gpu_.ordinal())) all.push_back(other);
  }
  return all;
}

void* Memory::allocate_shareable(int64_t size, int64_t alignment) {
  if (!is_shareable()) throw Error(ENOTSUP, gpu_.text() + " has no memory that other processes can open");
  free_unused();
  const int64_t whole = align_up(size, gpu_.properties().shareable_granularity);
  return gpu_.use([&](Driver& driver) {
    const Stream order = gpu_.memory_stream();
    void* const memory = driver.allocate_shareable(gpu_.ordinal(), users(driver), whole);
    const auto prepare = [&] {
      check_alignment(memory, alignment);
      driver.clear(memory, whole, order);
      driver.synchronize(order);
      const std::lock_guard lock(mutex_);
      shareable_.emplace(static_cast<const char*>(memory), whole);
    };
    free_if_thrown(prepare, [&] {
      driver.synchronize(order);  // the driver does not wait for work when it frees this memory
      driver.free_shareable(memory, whole);
    });
    return memory;
  });
}

// free_all() calls this under the lock. It does so for wrapped contexts only, which have no such memory, so the lock is
// not taken twice.
int64_t Memory::size_of_shareable(const void* memory) {
  if (!is_shareable()) return 0;
  const std::lock_guard lock(mutex_);
  const auto found = shareable_.find(static_cast<const char*>(memory));
  return found != shareable_.end() ? found->second : 0;
}

void Memory::describe(const void* memory, arrowdevice_memory_record& out) {
  const int64_t size = size_of_shareable(memory);
  if (size == 0) throw Error(EINVAL, format("%p is not the start of memory that other processes can open", memory));
  auto descriptor = gpu_.use([&](Driver& driver) { return driver.export_memory(memory); });
  out.kind = ARROWDEVICE_MEMORY_DESCRIPTOR;
  out.descriptor = descriptor.release();
  out.size = size;
}

// The driver knows the size of the memory, and does not tell it. It refuses to map more.
void* Memory::open(const arrowdevice_memory_record& record, int64_t& size) {
  if (!is_shareable()) throw Error(ENOTSUP, gpu_.text() + " cannot open memory of other processes");
  if (record.kind != ARROWDEVICE_MEMORY_DESCRIPTOR || record.descriptor < 0) {
    throw Error(EINVAL, format("memory of %s is opened by a descriptor, and the record has kind %d",
                               gpu_.text().c_str(), record.kind));
  }
  const int64_t granularity = gpu_.properties().shareable_granularity;
  if (record.size <= 0 || record.size % granularity != 0) {
    throw Error(EINVAL, format("memory of %lld bytes, which is no multiple of %lld",
                               static_cast<long long>(record.size), static_cast<long long>(granularity)));
  }
  return gpu_.use([&](Driver& driver) {
    void* const memory = driver.import_memory(users(driver), record.descriptor, record.size);
    const auto note = [&] {
      const std::lock_guard lock(mutex_);
      shareable_.emplace(static_cast<const char*>(memory), record.size);
    };
    free_if_thrown(note, [&] { driver.free_shareable(memory, record.size); });
    size = record.size;
    return memory;
  });
}

bool Memory::is_shared_with(int ordinal, const void* address) {
  if (!has(shareable_, address)) return false;
  return ordinal == gpu_.ordinal() || gpu_.driver().can_access_peer(ordinal, gpu_.ordinal());
}

void Memory::free_shareable(void* memory, int64_t size) noexcept {
  {
    const std::lock_guard lock(mutex_);
    shareable_.erase(static_cast<const char*>(memory));
  }
  gpu_.give_back([&](Driver& driver) { driver.free_shareable(memory, size); });
}

void Memory::free(void* memory) noexcept {
  if (const int64_t size = size_of_shareable(memory); size != 0) return free_shareable(memory, size);
  if (is_stream_ordered()) forget(memory);
  gpu_.give_back([&](Driver& driver) {
    if (is_stream_ordered()) {
      driver.free_on(gpu_.memory_stream(), memory);
    } else {
      driver.free(kind_, memory);
    }
  });
}

void Memory::free_after(const Queue& queue, void* memory) noexcept {
  gpu_.give_back([&](Driver& driver) {
    if (queue.is_captured(driver)) throw Error(EBUSY, "memory stays allocated: its stream is captured into a graph");
    if (is_stream_ordered() && size_of_shareable(memory) == 0) {
      forget(memory);
      driver.free_on(queue.stream(), memory);
    } else {
      wait_for_last_use(driver, queue.stream(), memory);
    }
  });
  gpu_.give_back([&](Driver&) { free_unused(); });
}

void Memory::wait_for_last_use(Driver& driver, Stream stream, void* memory) {
  NativeEvent last_use = nullptr;
  try {
    const std::lock_guard lock(mutex_);
    waiting_.reserve(waiting_.size() + 1);
    last_use = gpu_.take_event();
    driver.record(last_use, stream);
    waiting_.push_back({.last_use = last_use, .memory = memory});
    return;
  } catch (...) {
    if (last_use != nullptr) gpu_.return_event(last_use);
  }
  // Without an event, the library waits here, because it would otherwise leak the memory.
  driver.synchronize(stream);
  if (size_of_shareable(memory) != 0) {
    free(memory);
  } else {
    driver.free(kind_, memory);
  }
}

void Memory::free_all() {
  const std::lock_guard lock(mutex_);
  if (gpu_.is_lost()) waiting_.clear();  // freed with the context
  for (; !waiting_.empty(); waiting_.pop_back()) {
    const Waiting& one = waiting_.back();
    gpu_.use([&](Driver& driver) { driver.wait(one.last_use); });
    gpu_.return_event(one.last_use);
    free(one.memory);
  }
}

void Memory::free_unused() {
  std::vector<Waiting> unused;
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return;
    unused.reserve(waiting_.size());
    try {
      gpu_.use([&](Driver& driver) {
        for (auto one = waiting_.begin(); one != waiting_.end();) {
          if (!driver.is_done(one->last_use)) {
            ++one;
          } else {
            unused.push_back(*one);
            one = waiting_.erase(one);
          }
        }
      });
    } catch (...) {
      failure = std::current_exception();
    }
  }
  for (const Waiting& one : unused) {
    gpu_.return_event(one.last_use);
    free(one.memory);
  }
  if (failure) std::rethrow_exception(failure);
}

uint32_t peer_flags(const Device* from, const Device* to) {
  if (from == nullptr || from == to) return from == to ? kAccess : kCopy;
  if (to == nullptr) return from->is_host_readable() ? kAccess : kCopy;
  if (from->kind != MemoryKind::kDevice) return peer_flags_from_host_memory(*from, *to);
  if (to->kind != MemoryKind::kDevice) return kCopy;
  return peer_flags_between_gpus(*from, *to);
}

}  // namespace arrowdevice::cuda_like
