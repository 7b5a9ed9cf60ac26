// SPDX-License-Identifier: Apache-2.0
// The driver's events of a context: made in pools, used again and again.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "level_zero/physical_device.h"
#include "level_zero/vendor.h"

namespace arrowdevice::level_zero {

// Thread-safety: free.
class Events {
 public:
  explicit Events(ze_context_handle_t context) noexcept : context_(context) {}
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // One that is not signalled, for all devices of the context and the host.
  ze_event_handle_t take(PhysicalDevice& user);

  // Nothing signals it any more, and nothing waits for it.
  void put_back(ze_event_handle_t event, bool may_be_signalled, PhysicalDevice& user) noexcept;

  // Of a context that its owner takes back. All events have been put back.
  void destroy(PhysicalDevice& user) noexcept;

 private:
  ze_event_handle_t make();  // needs mutex_

  const ze_context_handle_t context_;
  std::mutex mutex_;  // guards all below
  std::vector<ze_event_pool_handle_t> pools_;
  uint32_t used_of_last_pool_ = 0;
  size_t made_ = 0;
  std::vector<ze_event_handle_t> free_;  // has room for all that were made
};

}  // namespace arrowdevice::level_zero
