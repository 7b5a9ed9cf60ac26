// SPDX-License-Identifier: Apache-2.0
// The driver's events of a context. Pools create them, and the library reuses them.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "level_zero/api.h"
#include "level_zero/physical_device.h"

namespace arrowdevice::level_zero {

// All functions are thread-safe.
class Events {
 public:
  explicit Events(ze_context_handle_t context) noexcept : context_(context) {}
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // Returns an event that is not signalled. All devices of the context and the host can use it.
  ze_event_handle_t take(PhysicalDevice& user);

  // Takes back an event. No work may signal it or wait for it any more.
  void put_back(ze_event_handle_t event, bool may_be_signalled, PhysicalDevice& user) noexcept;

  // Destroys all events of a context that the application unwraps. The caller has put all events back.
  void destroy(PhysicalDevice& user) noexcept;

 private:
  ze_event_handle_t make();  // requires mutex_

  const ze_context_handle_t context_;
  std::mutex mutex_;  // guards all members below
  std::vector<ze_event_pool_handle_t> pools_;
  uint32_t used_of_last_pool_ = 0;
  size_t made_ = 0;
  std::vector<ze_event_handle_t> free_;  // has capacity for all created events
};

}  // namespace arrowdevice::level_zero
