// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/memory.h"

#include <cerrno>

namespace arrowdevice::cuda_like {

void* Memory::allocate(int64_t size, int64_t alignment) {
  free_what_is_over();
  void* const memory = gpu_.use([&](Driver& driver) {
    if (!is_stream_ordered()) return driver.allocate(kind_, size);
    const Stream order = gpu_.memory_stream();
    void* const made = driver.allocate_on(order, size);
    try {
      // Other streams can use the memory only after this call. The call takes no time, because no other work is
      // enqueued on this stream.
      driver.synchronize(order);
    } catch (...) {
      driver.free_on(order, made);
      throw;
    }
    return made;
  });
  if (reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(alignment) != 0) {
    free(memory);
    throw Error(ENOTSUP, format("GPU %d gave memory that is not aligned to %lld bytes", gpu_.ordinal(),
                                static_cast<long long>(alignment)));
  }
  return memory;
}

void Memory::free_to_driver(Driver& driver, void* memory) {
  if (is_stream_ordered()) {
    driver.free_on(gpu_.memory_stream(), memory);
  } else {
    driver.free(kind_, memory);
  }
}

void Memory::free(void* memory) noexcept {
  gpu_.give_back([&](Driver& driver) { free_to_driver(driver, memory); });
}

void Memory::free_after(Stream stream, void* memory) noexcept {
  gpu_.give_back([&](Driver& driver) {
    if (is_stream_ordered()) {
      driver.free_on(stream, memory);
    } else {
      wait_for_last_use(driver, stream, memory);
    }
  });
  gpu_.give_back([&](Driver&) { free_what_is_over(); });
}

void Memory::wait_for_last_use(Driver& driver, Stream stream, void* memory) {
  NativeEvent last_use = nullptr;
  try {
    const std::lock_guard lock(mutex_);
    waiting_.reserve(waiting_.size() + 1);
    last_use = driver.create_event();
    driver.record(last_use, stream);
    waiting_.push_back({.last_use = last_use, .memory = memory});
    return;
  } catch (...) {
    if (last_use != nullptr) driver.destroy_event(last_use);
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
    gpu_.give_back([&](Driver& driver) { driver.destroy_event(one.last_use); });
    free(one.memory);
  }
}

void Memory::free_what_is_over() {
  std::vector<Waiting> over;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return;
    over.reserve(waiting_.size());
    gpu_.use([&](Driver& driver) {
      std::erase_if(waiting_, [&](const Waiting& one) {
        if (!driver.is_done(one.last_use)) return false;
        over.push_back(one);
        return true;
      });
    });
  }
  for (const Waiting& one : over) {
    gpu_.give_back([&](Driver& driver) { driver.destroy_event(one.last_use); });
    free(one.memory);
  }
}

}  // namespace arrowdevice::cuda_like
