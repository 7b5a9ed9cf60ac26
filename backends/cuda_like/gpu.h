// SPDX-License-Identifier: Apache-2.0
// One GPU in one context: the primary one, or one of an application's own. And whether it has failed for good.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "base/error.h"
#include "cuda_like/driver.h"

namespace arrowdevice::cuda_like {

// Lives as long as the process. Thread-safety: free.
class Gpu {
 public:
  // `wrapped` is an application's context, NULL for the primary one.
  Gpu(Driver& driver, int ordinal, Context wrapped);

  Driver& driver() const noexcept { return driver_; }
  int ordinal() const noexcept { return ordinal_; }
  // The primary one is made at first need, for it takes time and memory of the GPU: not to be had for asking what there
  // is.
  Context context();
  bool is_wrapped() const noexcept { return wrapped_ != nullptr; }
  const Properties& properties() const noexcept { return properties_; }
  // "GPU 1", for messages.
  std::string text() const;

  bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  // What is wrapped from now on has not failed, though its handle is that of a context which had.
  void forget_loss() noexcept { lost_.store(false, std::memory_order_release); }

  // Every use of the driver: the GPU is current in it, and the caller's state as before after it, also if it throws. An
  // error that the GPU does not recover from is remembered, and what every later use says.
  template <typename Body>
  auto use(Body&& body) {
    check_not_lost();
    try {
      const Current current(*this);
      return body(driver_);
    } catch (const Error& e) {
      remember(e);
      throw;
    }
  }

  // Gives something back, in a place that cannot fail: what the driver says against it is logged, unless it is that the
  // thing is gone already. A GPU that cannot be made current is tried once more, for nothing has happened yet.
  template <typename Body>
  void give_back(Body&& body) noexcept {
    bool is_current = false;
    for (int attempt = 0; attempt < 2 && !is_current && !is_lost(); ++attempt) {
      try {
        use([&](Driver& driver) {
          is_current = true;
          body(driver);
        });
      } catch (...) {
        if (is_current || attempt > 0) report_unreturned();
      }
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

  void check_not_lost() const;
  void remember(const Error& error) noexcept;
  void report_unreturned() const noexcept;

  Driver& driver_;
  const int ordinal_;
  const Context wrapped_;
  const Properties properties_;
  std::once_flag retained_;
  Context context_;

  mutable std::mutex mutex_;  // guards what follows, but for lost_
  std::atomic<bool> lost_{false};
  std::string loss_;
  int loss_code_ = 0;
  Stream memory_stream_ = nullptr;
};

}  // namespace arrowdevice::cuda_like
