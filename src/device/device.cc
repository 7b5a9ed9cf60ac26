// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "backend/device_types.h"
#include "base/environment.h"
#include "base/kept_blocks.h"
#include "base/log.h"
#include "base/process.h"
#include "device/event.h"
#include "device/pool.h"
#include "device/queue.h"

namespace arrowdevice::device {
Device::Device(const backend::Backend& backend, ArrowDeviceType type, int64_t id, void* handle, bool wrapped)
    : backend_(backend),
      handle_(handle),
      wrapped_(wrapped),
      queues_(*this, type == ARROW_DEVICE_CPU),
      buffers_(*this, type == ARROW_DEVICE_CPU),
      shareable_blocks_(type == ARROW_DEVICE_CPU) {
  info_.struct_size = sizeof info_;
  info_.total_memory = -1;
  info_.buffer_alignment = 1;
  info_.sub_buffer_alignment = 1;
  info_.numa_node = -1;
  backend_.call("device_get_info", backend_.table().device_get_info, handle_, &info_);
  if (backend_.table().shareable_allocate == nullptr) info_.flags &= ~uint64_t{ARROWDEVICE_DEVICE_SHAREABLE};
  info_.device_type = type;
  info_.device_id = id;
  info_.numa_node = std::max(info_.numa_node, -1);
  const auto& name = backend_.name();
  std::memset(info_.backend, 0, sizeof info_.backend);
  std::memcpy(info_.backend, name.data(), std::min(name.size(), sizeof info_.backend - 1));
  const auto* known_type = backend::find_device_type(type);
  const bool format_has_events = known_type == nullptr || known_type->has_events;
  const auto& table = backend_.table();
  if (!format_has_events || table.event_publish == nullptr || table.event_import == nullptr) {
    info_.flags &= ~uint64_t{ARROWDEVICE_DEVICE_EVENTS};
  }
  if (is_cpu()) {
    usable_across_fork_.emplace(pool_mutex_);
    own_pool_ = make_own_pool();
  }
  if (!has_addresses() && backend_.table().sub_buffer_create == nullptr) {
    throw Error(EINVAL, "the buffers of " + text() + " are handles, but the backend has no sub_buffer_create", name, 0);
  }
  for (auto* alignment : {&info_.buffer_alignment, &info_.sub_buffer_alignment}) {
    if (*alignment < 1 || (*alignment & (*alignment - 1)) != 0) {
      throw Error(EINVAL, format("an alignment of %lld bytes", static_cast<long long>(*alignment)), name, 0);
    }
  }
}

Device::~Device() = default;

std::string Device::text() const { return backend::device_text(type(), id()); }

bool Device::is_usable() const noexcept {
  return is_cpu() || (process::drivers_usable() && !unwrapped_.load(std::memory_order_acquire));
}

void Device::check_not_unwrapped() const {
  if (unwrapped_.load(std::memory_order_acquire)) throw Error(ENODEV, text() + " was unwrapped");
}

void Device::check_usable() const {
  if (is_usable()) return;
  check_not_unwrapped();
  if (process::is_forked_child()) {
    throw Error(ENODEV, text() + " was opened before this process was forked and cannot be used in the child");
  }
  throw Error(ENODEV, text() + " cannot be used any more: exit has begun");
}

void* Device::driver_allocate(Queue* queue, int64_t size) {
  return allocate("buffer_allocate", backend_.table().buffer_allocate, queue, size);
}

void* Device::allocate(const char* name, decltype(arrowdevice_backend::buffer_allocate) function, Queue* queue,
                       int64_t size) {
  check_usable();
  void* buffer = nullptr;
  std::optional<Queue::Turn> turn;
  if (queue != nullptr) turn.emplace(*queue).add_work();
  backend_.call(name, function, handle_, turn ? turn->handle() : nullptr, size, info_.buffer_alignment, &buffer);
  if (buffer == nullptr) throw Error(EIO, std::string(name) + " gave NULL on " + text(), backend_.name(), 0);
  Counters::add(counters_.buffers, 1);
  return buffer;
}

void* Device::shareable_allocate(Queue* queue, int64_t size) {
  backend_.require("shareable_allocate", backend_.table().shareable_allocate);
  void* const buffer = allocate("shareable_allocate", backend_.table().shareable_allocate, queue, size);
  try {
    shareable_blocks_.add({buffer, size, process::generation()});
  } catch (...) {
    backend_.table().shareable_free(handle_, nullptr, buffer);
    throw;
  }
  return buffer;
}

void Device::shareable_free(void* buffer) noexcept {
  shareable_blocks_.remove(buffer);
  if (is_usable()) backend_.table().shareable_free(handle_, nullptr, buffer);
}

arrowdevice_memory_record Device::memory_export(const ShareableBlock& block) const {
  check_usable();
  arrowdevice_memory_record record{};
  record.struct_size = sizeof record;
  record.descriptor = -1;
  backend_.call("memory_export", backend_.table().memory_export, handle_, block.buffer, &record);
  return record;
}

ShareableBlock Device::memory_import(const arrowdevice_memory_record& record) const {
  check_usable();
  backend_.require("memory_import", backend_.table().memory_import);
  ShareableBlock block;
  backend_.call("memory_import", backend_.table().memory_import, handle_, &record, &block.buffer, &block.size);
  return block;
}

void Device::memory_close(void* buffer) const noexcept {
  if (is_usable()) backend_.table().memory_close(handle_, buffer);
}

std::shared_ptr<Event> Device::record_event() {
  check_usable();
  backend_.require("device_record_event", backend_.table().device_record_event);
  void* handle = nullptr;
  backend_.call("device_record_event", backend_.table().device_record_event, handle_, &handle);
  try {
    return std::make_shared<Event>(*this, handle);
  } catch (...) {
    backend_.table().event_destroy(handle);
    throw;
  }
}

void Device::driver_deallocate(void* buffer) noexcept {
  if (is_usable()) backend_.table().buffer_free(handle_, nullptr, buffer);
}

// Returns the pools that the application does not see, or NULL for those that are not needed yet.
std::array<std::shared_ptr<Pool>, 3> Device::hidden_pools() {
  const std::lock_guard lock(pool_mutex_);
  return {staging_pool_, private_pool_, shareable_pool_};
}

int64_t Device::hidden_cached_bytes() {
  int64_t bytes = 0;
  for (const auto& pool : hidden_pools()) bytes += pool != nullptr ? pool->stats().cached_bytes : 0;
  return bytes;
}

void Device::driver_trim() noexcept {
  for (const auto& pool : hidden_pools()) {
    if (pool != nullptr) pool->free_cached();
  }
  const auto trim = backend_.table().device_trim;
  if (trim != nullptr && is_usable()) trim(handle_);
}

std::shared_ptr<Pool> Device::pool() {
  check_usable();
  const std::lock_guard lock(pool_mutex_);
  if (chosen_pool_ != nullptr) return chosen_pool_;
  if (own_pool_ == nullptr) own_pool_ = make_own_pool();
  return own_pool_;
}

// Makes the pool that is the default unless the application chooses another.
std::shared_ptr<Pool> Device::make_own_pool() {
  static constexpr const char* kVariable = "ARROWDEVICE_SHAREABLE_POOLS";
  bool is_shareable = false;
  for (const auto& name : environment::list(kVariable, ',')) {
    const auto* const named = backend::find_device_type(name);
    if (named == nullptr) throw Error(EINVAL, std::string(kVariable) + ": \"" + name + "\" is no device type");
    is_shareable |= named->type == type();
  }
  auto pool = make_pool(is_shareable ? ARROWDEVICE_POOL_SHAREABLE : 0);
  if (is_shareable) has_chosen_pool_ = true;
  return pool;
}

std::shared_ptr<Pool> Device::make_pool(uint32_t flags) {
  return std::make_shared<Pool>(*this, pool_options(flags), Pool::kDeviceOwned);
}

arrowdevice_pool_options Device::pool_options(uint32_t flags) const noexcept {
  arrowdevice_pool_options options{};
  options.flags = flags;
  if (is_borrowed()) options.max_cached_bytes = -1;
  return options;
}

std::shared_ptr<Pool> Device::staging_pool() {
  check_usable();
  const std::lock_guard lock(pool_mutex_);
  if (staging_pool_ == nullptr) {
    staging_pool_ = std::make_shared<Pool>(*this, pool_options(0), Pool::kDeviceOwned, Pool::kStagingMemory);
  }
  return staging_pool_;
}

std::shared_ptr<Pool> Device::private_pool() {
  auto usual = pool();
  return usual->is_shareable() ? hidden_pool(private_pool_, 0) : usual;
}

std::shared_ptr<Pool> Device::shareable_pool() {
  auto usual = pool();
  return usual->is_shareable() ? usual : hidden_pool(shareable_pool_, ARROWDEVICE_POOL_SHAREABLE);
}

// Returns a pool that the application does not see, which is created at first use.
std::shared_ptr<Pool> Device::hidden_pool(std::shared_ptr<Pool>& pool, uint32_t flags) {
  {
    const std::lock_guard lock(pool_mutex_);
    if (pool != nullptr) return pool;
  }
  auto made = make_pool(flags);  // without the lock, because a pool of the CPU has a mutex for forks too
  const std::lock_guard lock(pool_mutex_);
  if (pool == nullptr) pool.swap(made);
  return pool;
}

void* Device::staging_allocate(int64_t size) {
  check_usable();
  void* memory = nullptr;
  backend_.call("staging_allocate", backend_.table().staging_allocate, handle_, size, &memory);
  if (memory == nullptr) throw Error(EIO, "staging_allocate gave NULL on " + text(), backend_.name(), 0);
  return memory;
}

void Device::staging_free(void* memory) noexcept {
  if (is_usable()) backend_.table().staging_free(handle_, memory);
}

void Device::set_pool(std::shared_ptr<Pool> pool) {
  if (pool != nullptr && &pool->device() != this) {
    throw Error(EINVAL, "the pool is of " + pool->device().text() + ", not of " + text());
  }
  check_not_unwrapped();
  const std::lock_guard lock(pool_mutex_);
  // if this was the last owner of the former pool, the pool is destroyed after the unlock
  std::swap(chosen_pool_, pool);
  has_chosen_pool_ = chosen_pool_ != nullptr || (own_pool_ != nullptr && own_pool_->is_shareable());
}

void* Device::make_sub_buffer(const void* buffer, int64_t offset, int64_t size) const {
  check_usable();
  void* sub = nullptr;
  backend_.call("sub_buffer_create", backend_.table().sub_buffer_create, handle_, buffer, offset, size, &sub);
  if (!has_shareable_memory()) return sub;
  try {
    shareable_blocks_.add_sub_buffer(sub, buffer, offset);
  } catch (...) {
    backend_.table().sub_buffer_destroy(handle_, sub);
    throw;
  }
  return sub;
}

void Device::sub_buffer_destroy(void* sub) const noexcept {
  if (has_addresses() || sub == nullptr || !is_usable()) return;
  if (has_shareable_memory()) shareable_blocks_.remove_sub_buffer(sub);
  backend_.table().sub_buffer_destroy(handle_, sub);
}

std::optional<arrowdevice_pointer_info> Device::pointer_info(const void* buffer) const {
  const auto ask = backend_.table().pointer_get_info;
  if (ask == nullptr) return std::nullopt;
  arrowdevice_pointer_info info{};
  info.struct_size = sizeof info;
  backend_.call("pointer_get_info", ask, handle_, buffer, &info);
  if ((info.flags & ARROWDEVICE_POINTER_KNOWN) == 0) return std::nullopt;
  return info;
}

void Device::memory_info(int64_t* free_bytes, int64_t* total_bytes) const {
  *free_bytes = -1;
  *total_bytes = info_.total_memory;
  check_usable();
  if (backend_.table().device_get_memory_info != nullptr) {
    backend_.call("device_get_memory_info", backend_.table().device_get_memory_info, handle_, free_bytes, total_bytes);
  }
}

void Device::report_unknown_work(const Error& error) const noexcept {
  if (has_reported_unknown_work_.exchange(true, std::memory_order_relaxed)) return;
  char text[512];  // there may be no memory for a string
  const auto* const known = backend::find_device_type(type());
  std::snprintf(text, sizeof text, "work on %s:%lld may not have ended, so its memory is kept: %s",
                known != nullptr ? known->name : "device", static_cast<long long>(id()), error.what());
  log(LogLevel::kWarning, text);
}

void Device::drop_idle() {
  const auto queues = queues_.take_all();  // destroyed after the pools are trimmed
  std::shared_ptr<Pool> pools[2];
  {
    const std::lock_guard lock(pool_mutex_);
    pools[0] = own_pool_;
    pools[1] = chosen_pool_;
  }
  for (const auto& pool : pools) {
    if (pool != nullptr) pool->trim();
  }
  if (is_cpu()) kept_blocks::trim();  // without an own pool nothing above has done it
  driver_trim();
}

void Device::unwrap() {
  {
    std::shared_ptr<Pool> pools[5];  // destroyed after the unlock, because an application's pool calls `destroy`
    const std::lock_guard lock(pool_mutex_);
    pools[0].swap(own_pool_);
    pools[1].swap(chosen_pool_);
    pools[2].swap(staging_pool_);
    pools[3].swap(private_pool_);
    pools[4].swap(shareable_pool_);
  }
  backend_.call("device_unwrap", backend_.table().device_unwrap, handle_);
  unwrapped_.store(true, std::memory_order_release);
}

}  // namespace arrowdevice::device
