// SPDX-License-Identifier: Apache-2.0
#include "opencl/watch.h"

#include <chrono>
#include <memory>

#include "base/background.h"
#include "base/process.h"

namespace arrowdevice::opencl {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kInterval = 2ms;

}  // namespace

Watch& Watch::instance() {
  static auto& watch = *new Watch;
  return watch;
}

void Watch::add(std::function<bool()> look) {
  const std::lock_guard lock(mutex_);
  if (!is_running_) start();
  looks_.push_back(std::move(look));
  changed_.notify_one();
}

// Requires mutex_.
void Watch::start() {
  background::start([this] { run(); });
  is_running_ = true;
  // The driver's own exit handlers run after this handler.
  process::at_exit([] { instance().stop(); });
  process::watch_exit();
}

void Watch::run() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    if (looks_.empty()) {
      changed_.wait(lock);
      continue;
    }
    std::erase_if(looks_, [](const auto& look) { return look(); });
    changed_.wait_for(lock, kInterval);
  }
}

// Takes the lock, so that no driver call is in progress when stop() returns.
void Watch::stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  changed_.notify_one();
}

void release_failed(Owned<cl_event> event) noexcept {
  try {
    const auto kept = std::make_shared<Owned<cl_event>>(std::move(event));
    Watch::instance().add([kept, until = Clock::now() + kFailureEnds] { return Clock::now() >= until; });
  } catch (...) {
    // Without memory or threads, the event is released at once, which the standard allows.
  }
}

}  // namespace arrowdevice::opencl
