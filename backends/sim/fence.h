// SPDX-License-Identifier: Apache-2.0
// A point in the work of an engine: pending until the engine reaches it, then fired or failed for ever.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace arrowdevice::sim {

// Thread-safety: free.
class Fence {
 public:
  // What comes first counts, later ones change nothing.
  void fire() { finish({}); }
  void fail(std::string reason) { finish(std::move(reason)); }

  bool finished() const;
  std::optional<std::string> failure() const;  // nullopt while it is pending, too

  // Throws Error(EIO) if it failed.
  bool ready() const;

  // Negative: for ever. Throws Error(ETIMEDOUT), Error(EIO) if it failed.
  void wait(int64_t timeout_ns) const;

  // Calls `wake` once it is finished: at once if it is, else from the thread that finishes it. No lock is held then.
  void when_finished(std::function<void()> wake);

 private:
  void finish(std::optional<std::string> failure);
  void throw_if_failed() const;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool finished_ = false;
  std::optional<std::string> failure_;
  std::vector<std::function<void()>> wakers_;
};

}  // namespace arrowdevice::sim
