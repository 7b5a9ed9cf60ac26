// SPDX-License-Identifier: Apache-2.0
// One GPU: its context, and whether it has failed for good.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "base/error.h"
#include "shared_streams/driver.h"

namespace arrowdevice::streams {

// Lives as long as the process. Thread-safety: free.
class Gpu {
 public:
  Gpu(Driver& driver, int ordinal);

  Driver& driver() const noexcept { return driver_; }
  int ordinal() const noexcept { return ordinal_; }
  // Made at first need, for it takes time and memory of the GPU: not to be had for asking what there is.
  Context context();
  const Properties& properties() const noexcept { return properties_; }

  // Every use of the driver: the GPU is current in it, and the caller's state as before after it, also if it throws. An
  // error that the GPU does not recover from is remembered, and what every later use says.
  template <typename Body>
  auto use(Body&& body) {
    check_not_lost();
    const Current current(*this);
    try {
      return body(driver_);
    } catch (const Error& e) {
      remember(e);
      throw;
    }
  }

  // Gives something back, in a place that cannot fail: what the driver says against it is logged, unless it is that the
  // thing is gone already.
  template <typename Body>
  void give_back(Body&& body) noexcept {
    if (is_lost()) return;
    try {
      use(body);
    } catch (...) {
      report_unreturned();
    }
  }

  // Where memory comes from and goes to that no queue is named for. Nothing else is enqueued there, so that it never
  // waits for long.
  Stream memory_stream();

 private:
  // Makes the GPU current for the length of a scope.
  class Current {
   public:
    explicit Current(Gpu& gpu) : driver_(gpu.driver_), former_(driver_.enter(gpu.ordinal_, gpu.context())) {}
    ~Current() { driver_.leave(former_); }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    Driver& driver_;
    const int former_;
  };

  bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  void check_not_lost() const;
  void remember(const Error& error) noexcept;
  void report_unreturned() const noexcept;

  Driver& driver_;
  const int ordinal_;
  const Properties properties_;
  std::once_flag retained_;
  Context context_ = nullptr;

  mutable std::mutex mutex_;  // guards what follows, but for lost_
  std::atomic<bool> lost_{false};
  std::string loss_;
  int loss_code_ = 0;
  Stream memory_stream_ = nullptr;
};

}  // namespace arrowdevice::streams
