// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/device.h"

#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <exception>
#include <iterator>

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

bool Memory::is_of_pool(const void* address) {
  const auto* const asked = static_cast<const char*>(address);
  const std::lock_guard lock(mutex_);
  const auto next = of_pool_.upper_bound(asked);
  if (next == of_pool_.begin()) return false;
  const auto& [start, size] = *std::prev(next);
  return asked - start < size;
}

void Memory::free(void* memory) noexcept {
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
    if (is_stream_ordered()) {
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
  driver.free(kind_, memory);
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
