// SPDX-License-Identifier: Apache-2.0
// Gives the CPU access to bytes of the source's buffers: in place if it can read them, else read back in batches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "array/owners.h"
#include "base/deadline.h"
#include "device/deferred.h"
#include "device/event.h"
#include "device/pool.h"
#include "device/queue.h"
#include "schema/binding.h"

namespace arrowdevice::transfer {

class SourceReader {
 public:
  // Creates a reader of a source that the CPU reads in place. The source must be ready.
  SourceReader() = default;

  // Creates a reader of a source on a device. `queue` reads back, may be another device's, and already waits for
  // `event`. The deadline limits the CPU's waits. If it ends one, the library still holds a reference to `moved` until
  // the device has finished. `moved` is the source, or NULL if the caller keeps it alive then. Borrows all five.
  SourceReader(device::Device& source, device::Queue& queue, const device::ForeignEvent& event,
               const Deadline& deadline, ArrowDeviceArray* moved, bool is_queue_given = false)
      : source_(&source),
        queue_(&queue),
        event_(&event),
        deadline_(&deadline),
        moved_(moved),
        is_queue_given_(is_queue_given),
        blocks_(std::make_unique<Blocks>()) {}

  bool in_place() const noexcept { return queue_ == nullptr; }

  // Returns host memory with `size` > 0 bytes of a source buffer from `offset` on, which is valid as long as this
  // object. Returns NULL if the bytes are not read back yet, and then adds a pending read.
  const uint8_t* find(const void* buffer, int64_t offset, int64_t size);

  bool has_pending_reads() const noexcept { return !pending_reads_.empty(); }

  // Reads all pending reads back with one submission and one wait. On failure none of this work runs any more, unless
  // the wait ended early.
  void read_back();

 private:
  struct Piece {
    const void* buffer;
    int64_t offset;
    int64_t size;

    friend bool operator==(const Piece&, const Piece&) = default;
  };
  // Deferred if the wait ends early, and abandoned if the library cannot tell when the device has finished.
  struct Blocks final : device::Deferred {
    std::vector<device::Allocation> allocations;
    std::unique_ptr<array::OwnedArray> source;
    std::optional<device::DeviceUse> use;  // of the source's device
  };
  // Pending reads, by their places in the list, that one region covers.
  struct Range {
    size_t first, end;
    int64_t size;
  };
  struct PieceHash {
    size_t operator()(const Piece& piece) const noexcept;
  };

  static const char* address_of(const Piece& piece) noexcept {
    return static_cast<const char*>(piece.buffer) + piece.offset;
  }
  std::vector<Range> merge_pending();
  bool leave_running() noexcept;

  device::Device* source_ = nullptr;
  device::Queue* queue_ = nullptr;
  const device::ForeignEvent* event_ = nullptr;
  const Deadline* deadline_ = nullptr;
  ArrowDeviceArray* moved_ = nullptr;
  bool is_queue_given_ = false;
  std::unordered_map<Piece, const uint8_t*, PieceHash> known_;  // NULL: pending
  std::vector<Piece> pending_reads_;
  std::unique_ptr<Blocks> blocks_;  // NULL if the CPU reads in place
};

// Returns true if the sizes of variadic buffers are in host memory. On devices with addresses they are, unless the
// backend knows the address and the host cannot read it.
bool variadic_sizes_on_host(const schema::Binding& array, const device::Device& source);

}  // namespace arrowdevice::transfer
