// SPDX-License-Identifier: Apache-2.0
// Temporary memory of one operation: allocated in many pieces, freed at once, and cached for the next operation. Tables
// with thousands of columns need half a megabyte. With fresh memory from the system each time, its page faults would
// cost more than the work.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>

namespace arrowdevice {

// Not thread-safe: at most one thread uses it at a time.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::pmr::memory_resource* memory() noexcept { return &*pieces_; }

  // Limits of the memory that the library caches between operations.
  static constexpr size_t kMostKept = 4;                   // blocks
  static constexpr size_t kLargestKept = size_t{4} << 20;  // bytes of a block
  static constexpr size_t kSmallest = size_t{16} << 10;    // bytes of the first block

 private:
  struct Block;

  // Provides the pieces that do not fit the block.
  class Overflow final : public std::pmr::memory_resource {
   public:
    size_t bytes() const noexcept { return bytes_; }

   private:
    void* do_allocate(size_t bytes, size_t alignment) override;
    void do_deallocate(void* piece, size_t bytes, size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

    size_t bytes_ = 0;
  };

  static std::unique_ptr<Block> take() noexcept;
  static void keep(std::unique_ptr<Block> block) noexcept;
  static std::array<std::atomic<Block*>, kMostKept> kept;

  std::unique_ptr<Block> block_;
  Overflow overflow_;
  std::optional<std::pmr::monotonic_buffer_resource> pieces_;
};

}  // namespace arrowdevice
