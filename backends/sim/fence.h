// SPDX-License-Identifier: Apache-2.0
// A point in the work of an engine. It is pending until the engine reaches it. Then it has fired or failed, which is
// final.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/condition_variable.h"

namespace arrowdevice::sim {

// All functions are thread-safe.
class Fence {
 public:
  // The first call decides. Later calls have no effect.
  void fire() { finish({}); }
  void fail(std::string reason) { finish(std::move(reason)); }

  bool finished() const;
  std::optional<std::string> failure() const;  // nullopt while it is pending, too

  // Throws Error(EIO) if it failed.
  bool ready() const;

  // Waits until the fence finishes. Throws Error(EIO) if it failed, and Error(ETIMEDOUT) if the limit of `timeout_ns`
  // passes first. ARROWDEVICE_NO_TIMEOUT waits without limit.
  void wait(int64_t timeout_ns) const;

  // Calls `wake` when the fence finishes: at once if it has finished, otherwise from the thread that finishes it. No
  // lock is held during the call.
  void when_finished(std::function<void()> wake);

 private:
  void finish(std::optional<std::string> failure);
  void throw_if_failed() const;

  mutable std::mutex mutex_;
  mutable ConditionVariable changed_;
  bool finished_ = false;
  std::optional<std::string> failure_;
  std::vector<std::function<void()>> wakers_;
};

}  // namespace arrowdevice::sim
