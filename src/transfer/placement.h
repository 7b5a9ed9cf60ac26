// SPDX-License-Identifier: Apache-2.0
// Step 3 of a copy: assigns each output buffer a range of the allocation and an origin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "transfer/plan.h"

namespace arrowdevice::transfer {

// The format recommends padding with zeros to a multiple of this many bytes.
inline constexpr int64_t kPaddedTo = 64;

// The source of an output buffer's bytes.
enum class Origin {
  kCopied,              // bytes of the source, unchanged
  kCopiedThenAdjusted,  // bytes of the source, which the CPU adjusts after they have arrived
  kMade,                // written by the CPU
};

// An output buffer that has bytes.
struct OutputBuffer {
  int32_t field;
  int32_t position;  // among the field's buffers
  schema::BufferShape shape;
  Origin origin;
  bool on_host;                  // in host memory of the copy, not in the allocation
  int64_t size;                  // bytes
  int64_t offset = 0;            // in the allocation, or in the host memory
  const void* source = nullptr;  // the buffer that is copied
  int64_t source_offset = 0;
  int64_t source_bytes = 0;  // one more than `size` if bits are shifted later

  // Returns the number of bytes that the buffer occupies during the copy.
  int64_t room() const noexcept { return std::max(size, source_bytes); }
  // Returns the end of the bytes, or of their padding, in the memory that holds them.
  int64_t end() const noexcept { return offset + size; }
  int64_t padded_end() const noexcept { return (offset + size + kPaddedTo - 1) & -kPaddedTo; }
};

struct PlacedBuffers {
  explicit PlacedBuffers(std::pmr::memory_resource* memory) : buffers(memory) {}

  std::pmr::vector<OutputBuffer> buffers;  // in the order of fields and buffers
  int64_t device_bytes = 0;                // size of the allocation, padding included
  int64_t host_bytes = 0;                  // size of the host memory beside it
  bool needs_adjusting = false;            // some buffers have the origin kCopiedThenAdjusted
};

struct Placement {
  int64_t alignment;  // of every output buffer in the allocation
  bool source_on_host;
  bool target_on_host;
  bool sizes_on_host;  // the sizes of variadic buffers stay in host memory
  bool whole;
};

PlacedBuffers place_buffers(const schema::Binding& array, const Plan& plan, const Placement& placement,
                            std::pmr::memory_resource* memory);

// Writes an output buffer with the origin kMade to host memory.
void write_buffer(const schema::Binding& array, const Plan& plan, const OutputBuffer& buffer, uint8_t* out);

// Subtracts `base` from `n` offsets of `width` bytes. Offsets below `base` become 0. The memory need not be aligned.
void rebase_offsets(const uint8_t* from, int64_t n, int width, int64_t base, uint8_t* to) noexcept;

// Adjusts an output buffer with the origin kCopiedThenAdjusted, after it has arrived in host memory.
void adjust_in_place(const Plan& plan, const schema::Type& type, const OutputBuffer& buffer, uint8_t* bytes);

}  // namespace arrowdevice::transfer
