// SPDX-License-Identifier: Apache-2.0
// The number of refused calls and the first few messages. A correct program has none.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace arrowdevice::sim {

class Refusals {
 public:
  static constexpr size_t kMessagesKept = 16;

  void add(std::string message) {
    const std::lock_guard lock(mutex_);
    ++count_;
    if (messages_.size() < kMessagesKept) messages_.push_back(std::move(message));
  }

  void reset() {
    const std::lock_guard lock(mutex_);
    count_ = 0;
    messages_.clear();
  }

  int64_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

  std::vector<std::string> messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
  }

 private:
  mutable std::mutex mutex_;
  int64_t count_ = 0;
  std::vector<std::string> messages_;
};

}  // namespace arrowdevice::sim
