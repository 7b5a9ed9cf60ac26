// SPDX-License-Identifier: Apache-2.0
#include "level_zero/events.h"

#include "level_zero/api.h"

namespace arrowdevice::level_zero {
namespace {

constexpr uint32_t kEventsOfPool = 64;

ze_event_pool_handle_t make_pool(ze_context_handle_t context) {
  ze_event_pool_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  description.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  description.count = kEventsOfPool;
  ze_event_pool_handle_t pool = nullptr;
  check("zeEventPoolCreate", api().zeEventPoolCreate(context, &description, 0, nullptr, &pool));
  return pool;
}

// The event makes earlier writes visible to the host, to other devices, and to later work.
ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index) {
  ze_event_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  description.index = index;
  description.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  description.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t event = nullptr;
  check("zeEventCreate", api().zeEventCreate(pool, &description, &event));
  return event;
}

}  // namespace

ze_event_handle_t Events::make() {
  if (pools_.empty() || used_of_last_pool_ == kEventsOfPool) {
    pools_.reserve(pools_.size() + 1);
    pools_.push_back(make_pool(context_));
    used_of_last_pool_ = 0;
  }
  free_.reserve(made_ + 1);
  auto* const event = make_event(pools_.back(), used_of_last_pool_);
  ++used_of_last_pool_;
  ++made_;
  return event;
}

ze_event_handle_t Events::take(PhysicalDevice& user) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    return user.use([this] { return make(); });
  }
  auto* const event = free_.back();
  free_.pop_back();
  return event;
}

void Events::put_back(ze_event_handle_t event, bool may_be_signalled, PhysicalDevice& user) noexcept {
  if (may_be_signalled && !user.give_back("zeEventHostReset", api().zeEventHostReset(event))) {
    // The event cannot be reused. Its slot in the pool stays empty.
    user.give_back("zeEventDestroy", api().zeEventDestroy(event));
    return;
  }
  const std::lock_guard lock(mutex_);
  free_.push_back(event);
}

void Events::destroy(PhysicalDevice& user) noexcept {
  const std::lock_guard lock(mutex_);
  for (auto* const event : free_) user.give_back("zeEventDestroy", api().zeEventDestroy(event));
  for (auto* const pool : pools_) user.give_back("zeEventPoolDestroy", api().zeEventPoolDestroy(pool));
  free_.clear();
  pools_.clear();
  made_ = 0;
}

}  // namespace arrowdevice::level_zero
