// SPDX-License-Identifier: Apache-2.0
// Points that nobody asks for any more while the device has not passed them: Level Zero takes nothing back that is
// still in use, so what hangs on them waits here.
#pragma once

#include <cstddef>
#include <mutex>

namespace arrowdevice::level_zero {

class CompletionPoint;

// Thread-safety: free.
class PendingCompletions {
 public:
  PendingCompletions() = default;
  PendingCompletions(const PendingCompletions&) = delete;
  PendingCompletions& operator=(const PendingCompletions&) = delete;

  // Takes it over. Does not allocate.
  void add(CompletionPoint* point) noexcept;

  // Lets go of those that have been passed meanwhile. Does not block, and looks at a few at a time.
  void sweep() noexcept;

  // Waits for all, and lets go of them. False if the driver does not say that they are over.
  bool drain() noexcept;

 private:
  CompletionPoint* take_first() noexcept;

  std::mutex mutex_;  // guards all below
  CompletionPoint* first_ = nullptr;
  CompletionPoint* last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace arrowdevice::level_zero
