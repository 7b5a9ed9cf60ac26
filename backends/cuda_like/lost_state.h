// SPDX-License-Identifier: Apache-2.0
// The fatal error of a lost device.
#pragma once

#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <string>

#include "base/error.h"

namespace arrowdevice::cuda_like {

// All functions are thread-safe.
class LostState {
 public:
  bool is_lost() const noexcept { return is_lost_.load(std::memory_order_acquire); }

  // Records a fatal error. Only the first one counts, because it is the cause of the others.
  void set(const Error& error) noexcept {
    const std::lock_guard lock(mutex_);
    if (is_lost()) return;
    try {
      reason_ = error.message();
    } catch (const std::bad_alloc&) {
      reason_.clear();  // native_code_ holds the same information
    }
    native_code_ = error.native_code();
    is_lost_.store(true, std::memory_order_release);
  }

  // Forgets the error.
  void clear() noexcept { is_lost_.store(false, std::memory_order_release); }

  // Throws EIO with the recorded error. `device` is the name for the message.
  [[noreturn]] void fail(const std::string& device) const {
    const std::lock_guard lock(mutex_);
    throw Error(EIO, device + " failed for good: " + reason_, {}, native_code_);
  }

 private:
  mutable std::mutex mutex_;  // guards the members below, except is_lost_
  std::atomic<bool> is_lost_{false};
  std::string reason_;
  int native_code_ = 0;
};

}  // namespace arrowdevice::cuda_like
