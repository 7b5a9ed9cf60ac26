// SPDX-License-Identifier: Apache-2.0
// An array's data as the CPU sees it, a piece at a time: in place where it can, else read back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "transfer/contents.h"

namespace arrowdevice::array {

// One place in a buffer of the array. `size` > 0.
struct DataRange {
  const void* buffer;
  int64_t offset;
  int64_t size;
};

class DataReader {
 public:
  // `queue`: of the source; NULL where the CPU reads its memory in place. The event was waited for. Borrows all.
  DataReader(device::Device& source, device::Queue* queue, const device::ForeignEvent& event, const Deadline& deadline)
      : source_(source), queue_(queue), event_(event), deadline_(deadline) {}

  // Host memory with the bytes of each range, valid until the next call.
  template <size_t n>
  std::array<const uint8_t*, n> read(const DataRange (&ranges)[n]) {
    std::array<const uint8_t*, n> found;
    read(ranges, n, found.data());
    return found;
  }
  const uint8_t* read(const DataRange& range) {
    const uint8_t* found = nullptr;
    read(&range, 1, &found);
    return found;
  }
  void read(const DataRange* ranges, size_t n, const uint8_t** out);

 private:
  device::Device& source_;
  device::Queue* const queue_;
  const device::ForeignEvent& event_;
  const Deadline& deadline_;
  std::optional<transfer::Contents> contents_;  // of the last call
};

}  // namespace arrowdevice::array
