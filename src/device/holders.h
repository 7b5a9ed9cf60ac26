// SPDX-License-Identifier: Apache-2.0
// Counts a pool's memory by its holders, so that a pool without memory can name the largest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace arrowdevice::device {

// The kinds of holders. kCopies are arrays that the library has copied, and kStreams those that it has copied for a
// stream. kStaging is memory of a copy that has not finished.
enum class Holder : uint8_t { kCopies, kStreams, kApplication, kStaging };

class Holders {
 public:
  void add(Holder holder, int64_t bytes, int64_t allocations = 1) noexcept {
    auto& held = of(holder);
    held.bytes += bytes;
    held.allocations += allocations;
  }
  void remove(Holder holder, int64_t bytes) noexcept {
    auto& held = of(holder);
    held.bytes -= bytes;
    --held.allocations;
  }

  // Returns the holders, the largest first, such as "copies 900.0 MiB in 12 allocations, application 8.0 MiB in 1".
  // `waiting_bytes` are released memory that work still uses. Returns an empty text if there is no memory.
  std::string text(int64_t waiting_bytes) const;

 private:
  static constexpr size_t kKinds = 4;

  struct Held {
    int64_t bytes = 0;
    int64_t allocations = 0;
  };

  Held& of(Holder holder) noexcept { return held_[static_cast<size_t>(holder)]; }

  std::array<Held, kKinds> held_;
};

}  // namespace arrowdevice::device
