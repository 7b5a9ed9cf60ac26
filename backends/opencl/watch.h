// SPDX-License-Identifier: Apache-2.0
// A thread that looks at things now and then, for what drivers do not say by themselves. Started at first need; it
// calls no driver any more once `exit` has begun.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "opencl/handles.h"

namespace arrowdevice::opencl {

class Watch {
 public:
  // Made at first use and never destroyed.
  static Watch& instance();

  // Calls `look` every few milliseconds until it answers true. It must not throw, wait, or use the watch.
  void add(std::function<bool()> look);

 private:
  void start();
  void run();
  void stop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<bool()>> looks_;
  bool is_running_ = false;
  bool is_stopping_ = false;
};

// Lets an event go that has failed, a little later: PoCL 3.1 shows an event as failed before it has stopped using it.
void release_failed(Owned<cl_event> event) noexcept;

}  // namespace arrowdevice::opencl
