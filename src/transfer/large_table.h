// SPDX-License-Identifier: Apache-2.0
// Copies of large tables from pageable host memory to a device with pinned memory. The table passes in pieces. A piece
// holds all bytes of a range of the target, with zeros as padding, so that it is one copy for the driver.
#pragma once

#include <memory_resource>
#include <span>
#include <vector>

#include "transfer/pinned.h"
#include "transfer/submit.h"

namespace arrowdevice::transfer {

class LargeTable {
 public:
  // Borrows all arguments. `target` is the allocation.
  LargeTable(const schema::Binding& array, const Plan& plan, std::span<const OutputBuffer> buffers, Route& route,
             void* target, std::pmr::memory_resource* memory)
      : array_(array),
        plan_(plan),
        buffers_(buffers),
        route_(route),
        target_(target),
        in_pieces_(memory),
        made_(memory) {}

  // Returns true if the table is large, in pageable memory, and faster in pieces. Asks the driver about the largest
  // buffer only, because copies in pieces are right for any memory, and so are copies by the driver.
  bool should_go_in_pieces() const;

  // Copies the table. Returns false, and has done nothing, if there is no pinned memory.
  bool copy_in_pieces(const Deadline& deadline, InFlight& in_flight);

 private:
  using Region = arrowdevice_backend_region;

  void allocate_made(InFlight& in_flight);
  void add(size_t i);
  Region make(const OutputBuffer& buffer);
  int64_t next_begin(size_t i) const;
  void add_zeros(int64_t begin, int64_t end);

  const schema::Binding& array_;
  const Plan& plan_;
  const std::span<const OutputBuffer> buffers_;
  Route& route_;
  void* const target_;
  std::pmr::vector<Region> in_pieces_;
  std::pmr::vector<Region> made_;  // large buffers that the CPU writes to pinned memory
  uint8_t* stage_ = nullptr;       // for all buffers that the CPU makes
  int64_t staged_ = 0;
};

}  // namespace arrowdevice::transfer
