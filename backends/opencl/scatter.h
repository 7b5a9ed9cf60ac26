// SPDX-License-Identifier: Apache-2.0
// Reads of many small pieces of a buffer. One command reads the range that has them into a block of host memory, and
// the CPU copies the pieces from there. A GPU's driver needs longer for a command than for some kilobytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "opencl/handles.h"
#include "opencl/pending.h"
#include "opencl/relay.h"

namespace arrowdevice::opencl {

class ScatteredReads {
 public:
  struct Piece {
    size_t offset;
    std::byte* host;
    size_t size;
  };

  ScatteredReads(cl_context context, cl_command_queue queue, Pending& pending)
      : context_(context), queue_(queue), pending_(pending) {}
  // Without finish(), no piece is copied any more, because the caller may free the host memory.
  ~ScatteredReads();
  ScatteredReads(const ScatteredReads&) = delete;
  ScatteredReads& operator=(const ScatteredReads&) = delete;

  // Enqueues a read of pieces of one buffer, in the order of their offsets.
  void enqueue(cl_mem buffer, std::vector<Piece> pieces);

  // Makes later work of the queue run after the copies of all pieces.
  void finish();

  // Frees the host memory that is kept for later reads.
  static void trim() noexcept;

 private:
  class Read;

  const cl_context context_;
  const cl_command_queue queue_;
  Pending& pending_;
  std::vector<std::shared_ptr<Read>> reads_;
  std::vector<std::shared_ptr<Relay>> relays_;
};

}  // namespace arrowdevice::opencl
