// SPDX-License-Identifier: Apache-2.0
// A device of a driver, shared by all contexts: its properties, and the fatal error if it is lost.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "cuda_like/lost_state.h"
#include "level_zero/api.h"

namespace arrowdevice::level_zero {

// The engines of a device that run the library's queues.
struct QueueGroup {
  uint32_t ordinal;
  uint32_t engines;
};

struct Properties {
  explicit Properties(ze_device_handle_t device);

  std::string name;
  std::string vendor;
  std::array<uint8_t, 16> uuid{};
  int64_t total_memory;         // bytes, -1 if unknown
  uint64_t largest_allocation;  // bytes; larger allocations need relaxed limits
  bool reaches_system_memory;   // the device can access host memory that the driver did not allocate
  QueueGroup queue_group;
};

// Lives as long as the process. All functions are thread-safe.
class PhysicalDevice {
 public:
  // `has_in_order_lists` describes the driver.
  PhysicalDevice(ze_device_handle_t native, bool has_in_order_lists)
      : native_(native), properties_(native), has_in_order_lists_(has_in_order_lists) {}

  ze_device_handle_t native() const noexcept { return native_; }
  const Properties& properties() const noexcept { return properties_; }

  // Runs `body`, which calls the driver. Every driver call that fails on a lost device goes through this function.
  // Records a fatal error, which every later call then throws.
  template <typename Body>
  auto use(Body&& body) {
    check_not_lost();
    try {
      return body();
    } catch (const Error& e) {
      remember(e);
      throw;
    }
  }

  // Logs `result` if it is an error, for calls that free or destroy objects. Never fails. Returns false if `result` is
  // an error.
  bool give_back(const char* call, ze_result_t result) noexcept;

  bool is_lost() const noexcept { return lost_.is_lost(); }

  bool has_in_order_lists() const noexcept { return has_in_order_lists_.load(std::memory_order_relaxed); }
  void lacks_in_order_lists() noexcept { has_in_order_lists_.store(false, std::memory_order_relaxed); }

  // Assigns the engines to queues in turn.
  uint32_t next_engine() noexcept {
    return next_engine_.fetch_add(1, std::memory_order_relaxed) % properties_.queue_group.engines;
  }

 private:
  void check_not_lost() const {
    if (is_lost()) lost_.fail(properties_.name);
  }
  void remember(const Error& error) noexcept {
    if (is_fatal(error.native_code())) lost_.set(error);
  }

  const ze_device_handle_t native_;
  const Properties properties_;
  std::atomic<bool> has_in_order_lists_;
  std::atomic<uint32_t> next_engine_{0};
  cuda_like::LostState lost_;
};

}  // namespace arrowdevice::level_zero
