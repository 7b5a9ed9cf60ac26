// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/gpu.h"

#include <algorithm>
#include <exception>
#include <new>

#include "base/log.h"

namespace arrowdevice::cuda_like {

namespace {

// The pool keeps at most this part of the GPU's memory.
constexpr int64_t kKeptPart = 4;

// More events are destroyed when they are returned.
constexpr size_t kMostFreeEvents = 256;

}  // namespace

Gpu::Gpu(Driver& driver, int ordinal, Context wrapped)
    : driver_(driver),
      ordinal_(ordinal),
      wrapped_(wrapped),
      properties_(driver.properties(ordinal)),
      context_(wrapped) {}

Context Gpu::context() {
  if (wrapped_ == nullptr) std::call_once(retained_, [this] { context_ = driver_.retain_context(ordinal_); });
  return context_;
}

std::string Gpu::text() const {
  return wrapped_ == nullptr ? format("GPU %d", ordinal_) : format("the context %p of GPU %d", wrapped_, ordinal_);
}

void Gpu::report_unreturned() const noexcept {
  try {
    throw;
  } catch (const Error& e) {
    if (driver_.has_shut_down(e.native_code())) return;
    log(LogLevel::kWarning, e.message());
  } catch (const std::exception& e) {
    log(LogLevel::kWarning, e.what());
  }
}

void Gpu::forget_loss() noexcept {
  const std::lock_guard lock(mutex_);
  free_events_.clear();  // destroyed with the context
  accessible_.clear();
  ++contexts_;
  lost_.clear();
}

Stream Gpu::memory_stream() {
  const std::lock_guard lock(mutex_);
  if (memory_stream_ == nullptr) memory_stream_ = driver_.create_stream();
  return memory_stream_;
}

MemoryPool Gpu::pool() {
  const std::lock_guard lock(mutex_);
  if (pool_ == nullptr) pool_ = driver_.create_pool(ordinal_, properties_.total_memory / kKeptPart);
  return pool_;
}

bool Gpu::shares_pool_with(const Gpu& user) {
  if (!has_pool()) return false;
  if (user.ordinal() == ordinal_) return true;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = pool_users_.find(user.ordinal()); known != pool_users_.end()) return known->second;
    if (pool_ == nullptr) return false;
  }
  const std::unique_lock granting(grants_, std::try_to_lock);
  if (!granting.owns_lock()) return false;
  const bool may_use = driver_.can_access_peer(user.ordinal(), ordinal_) && grant_pool(user.ordinal());
  const std::lock_guard lock(mutex_);
  pool_users_[user.ordinal()] = may_use;
  return may_use;
}

// Logs a refusal of the driver, because copies then pass through the host.
bool Gpu::grant_pool(int user) {
  try {
    driver_.grant_access(pool(), user);
    return true;
  } catch (const Error& error) {
    if (driver_.is_fatal(error.native_code())) throw;
    log(LogLevel::kWarning, "copies between two GPUs may be slow, because one may not use the memory of the other:");
    log(LogLevel::kWarning, error.what());
    return false;
  }
}

bool Gpu::has_shared_pool() {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(pool_users_, [](const auto& user) { return user.second; });
}

void Gpu::enable_peer_access(Gpu& peer) {
  const int64_t context = peer.contexts_;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = accessible_.find(&peer); known != accessible_.end() && known->second == context) return;
  }
  if (driver_.can_access_peer(ordinal_, peer.ordinal())) driver_.enable_peer_access(peer.context());
  const std::lock_guard lock(mutex_);
  accessible_[&peer] = context;
}

NativeEvent Gpu::take_event() {
  check_not_lost();
  {
    const std::lock_guard lock(mutex_);
    if (!free_events_.empty()) {
      NativeEvent const event = free_events_.back();
      free_events_.pop_back();
      return event;
    }
  }
  return use([](Driver& driver) { return driver.create_event(); });
}

// The context of a lost GPU has destroyed the event.
void Gpu::return_event(NativeEvent event) noexcept {
  if (is_lost() || keep(event)) return;
  give_back([&](Driver& driver) { driver.destroy_event(event); });
}

// Returns false if there is no room.
bool Gpu::keep(NativeEvent event) noexcept {
  const std::lock_guard lock(mutex_);
  if (free_events_.size() >= kMostFreeEvents) return false;
  try {
    free_events_.push_back(event);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void Gpu::trim() {
  std::vector<NativeEvent> events;
  MemoryPool pool = nullptr;
  {
    const std::lock_guard lock(mutex_);
    events.swap(free_events_);
    pool = pool_;
  }
  for (NativeEvent const event : events) {
    give_back([&](Driver& driver) { driver.destroy_event(event); });
  }
  if (pool == nullptr) return;
  // The driver trims only memory whose release the CPU has seen. No other work is enqueued on this stream.
  give_back([&](Driver& driver) {
    driver.synchronize(memory_stream());
    driver.trim(pool);
  });
}

}  // namespace arrowdevice::cuda_like
