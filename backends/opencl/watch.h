// SPDX-License-Identifier: Apache-2.0
// A thread that polls for changes that drivers do not report. It starts at first use and calls no driver after `exit`
// has begun.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

#include "base/condition_variable.h"
#include "opencl/handles.h"

namespace arrowdevice::opencl {

class Watch {
 public:
  // Returns the instance, which is created at first use and never destroyed.
  static Watch& instance();

  // Calls `look` every few milliseconds until it returns true. `look` must not throw, wait, or use the watch.
  void add(std::function<bool()> look);

 private:
  void start();
  void run();
  void stop();

  std::mutex mutex_;
  ConditionVariable changed_;
  std::vector<std::function<bool()>> looks_;
  bool is_running_ = false;
  bool is_stopping_ = false;
};

// PoCL 3.1 reports work as failed before it stops using its objects. They live that much longer.
inline constexpr std::chrono::milliseconds kFailureEnds{100};

// Releases a failed event a little later.
void release_failed(Owned<cl_event> event) noexcept;

}  // namespace arrowdevice::opencl
