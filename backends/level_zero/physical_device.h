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
#include "level_zero/driver_features.h"

namespace arrowdevice::level_zero {

// The engines of a device that run the library's queues.
struct QueueGroup {
  uint32_t ordinal;
  bool computes;
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
  bool may_offload;    // copies with the host may run on engines that only copy
  bool shares_memory;  // device memory leaves the process, and comes from other processes, as a DMA buffer
};

// Lives as long as the process. All functions are thread-safe.
class PhysicalDevice {
 public:
  // `features` describes the driver.
  PhysicalDevice(ze_device_handle_t native, const DriverFeatures& features);

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

  // Returns the best kind of list for the library's queues. A layer between the loader and the driver may be older than
  // the driver and refuse it. The caller then records the best kind that it could create.
  ListKind best_list() const noexcept { return best_list_.load(std::memory_order_relaxed); }
  void set_best_list(ListKind kind) noexcept { best_list_.store(kind, std::memory_order_relaxed); }
  OffloadForm offload_form() const noexcept { return offload_form_; }

 private:
  void check_not_lost() const {
    if (is_lost()) lost_.fail(properties_.name);
  }
  void remember(const Error& error) noexcept {
    if (is_fatal(error.native_code())) lost_.set(error);
  }

  const ze_device_handle_t native_;
  const Properties properties_;
  const OffloadForm offload_form_;
  std::atomic<ListKind> best_list_;
  cuda_like::LostState lost_;
};

}  // namespace arrowdevice::level_zero
