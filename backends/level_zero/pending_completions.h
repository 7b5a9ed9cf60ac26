// SPDX-License-Identifier: Apache-2.0
// Released points that the device has not passed yet. Level Zero must not destroy objects in use, so the objects of
// these points wait here.
#pragma once

#include <cstddef>
#include <mutex>

namespace arrowdevice::level_zero {

class CompletionPoint;

// All functions are thread-safe.
class PendingCompletions {
 public:
  PendingCompletions() = default;
  PendingCompletions(const PendingCompletions&) = delete;
  PendingCompletions& operator=(const PendingCompletions&) = delete;

  // Takes ownership of `point`. Does not allocate.
  void add(CompletionPoint* point) noexcept;

  // Destroys some of the points that the device has passed. Does not block, and checks a few points per call.
  void sweep() noexcept;

  // Waits for all points and destroys them. Returns false if the driver does not confirm that their work has finished.
  bool drain() noexcept;

 private:
  CompletionPoint* take_first() noexcept;

  std::mutex mutex_;  // guards all members below
  CompletionPoint* first_ = nullptr;
  CompletionPoint* last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace arrowdevice::level_zero
