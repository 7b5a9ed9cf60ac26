// SPDX-License-Identifier: Apache-2.0
// Bytes of the source's buffers, seen from the CPU: in place where it can read them, else read back in batches.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/deadline.h"
#include "device/deferred.h"
#include "device/event.h"
#include "device/pool.h"
#include "device/queue.h"
#include "schema/binding.h"

namespace arrowdevice::transfer {

class SourceReader {
 public:
  // A source that the CPU reads in place, once it is ready.
  SourceReader() = default;

  // A source on a device: read back on `queue`, which may be another device's and waits for `event` already. A deadline
  // also bounds the CPU's wait for it. Borrows all four.
  SourceReader(device::Device& source, device::Queue& queue, const device::ForeignEvent& event,
               const Deadline& deadline)
      : source_(&source), queue_(&queue), event_(&event), deadline_(&deadline), blocks_(std::make_unique<Blocks>()) {}

  bool in_place() const noexcept { return queue_ == nullptr; }

  // Host memory with `size` > 0 bytes of a source buffer from `offset` on; valid as long as this object. NULL: not read
  // back yet, but noted down for the next read_back().
  const uint8_t* find(const void* buffer, int64_t offset, int64_t size);

  bool has_wishes() const noexcept { return !pending_reads_.empty(); }

  // Reads everything that was noted down: one submission, one wait. On failure nothing of it runs any more.
  void read_back();

 private:
  struct Piece {
    const void* buffer;
    int64_t offset;
    int64_t size;

    friend bool operator==(const Piece&, const Piece&) = default;
  };
  // Deferred only where nobody can tell when the device is done with it.
  struct Blocks final : device::Deferred {
    std::vector<device::Allocation> allocations;
  };
  struct PieceHash {
    size_t operator()(const Piece& piece) const noexcept;
  };

  device::Device* source_ = nullptr;
  device::Queue* queue_ = nullptr;
  const device::ForeignEvent* event_ = nullptr;
  const Deadline* deadline_ = nullptr;
  std::unordered_map<Piece, const uint8_t*, PieceHash> known_;  // NULL: wished for
  std::vector<Piece> pending_reads_;
  std::unique_ptr<Blocks> blocks_;  // not in place
};

// Whether the sizes of variadic buffers lie in host memory: on devices with addresses they do, unless the backend knows
// the address as its own.
bool variadic_sizes_on_host(const schema::Binding& array, const device::Device& source);

}  // namespace arrowdevice::transfer
