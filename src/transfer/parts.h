// SPDX-License-Identifier: Apache-2.0
// Step 3 of a copy: every buffer of the copy gets its place in one allocation, and its origin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "transfer/plan.h"

namespace arrowdevice::transfer {

// The format recommends that buffers are padded with zeros to a multiple of so many bytes.
inline constexpr int64_t kPaddedTo = 64;

// Where the bytes of one buffer of the copy come from.
enum class Origin {
  kCopied,              // bytes of the source, as they are
  kCopiedThenAdjusted,  // bytes of the source, put right by the CPU where they have arrived
  kMade,                // written by the CPU
};

// One buffer of the copy that has bytes.
struct OutputBuffer {
  int32_t field;
  int32_t position;  // among the field's buffers
  schema::BufferShape shape;
  Origin origin;
  bool on_host;                  // lies in host memory of the copy, not in the allocation
  int64_t size;                  // bytes
  int64_t place = 0;             // in the allocation, or in the host memory
  const void* source = nullptr;  // of what is copied
  int64_t source_offset = 0;
  int64_t source_bytes = 0;  // one more than `size` where bits are put right later

  // Bytes that are needed at its place.
  int64_t room() const noexcept { return std::max(size, source_bytes); }
  // Where its bytes end, and where its padding does, in the memory that it lies in.
  int64_t end() const noexcept { return place + size; }
  int64_t padded_end() const noexcept { return (place + size + kPaddedTo - 1) & -kPaddedTo; }
};

struct Parts {
  explicit Parts(std::pmr::memory_resource* memory) : parts(memory) {}

  std::pmr::vector<OutputBuffer> parts;  // in the order of fields and buffers
  int64_t device_bytes = 0;              // size of the one allocation, padding included
  int64_t host_bytes = 0;                // of the host memory beside it
  bool needs_fixing = false;             // there are parts with origin kCopiedThenAdjusted
};

struct Placement {
  int64_t alignment;  // of every part in the allocation
  bool source_on_host;
  bool target_on_host;
  bool sizes_on_host;  // whether the sizes of variadic buffers stay in host memory
  bool whole;
};

Parts place_parts(const schema::Binding& array, const Plan& plan, const Placement& placement,
                  std::pmr::memory_resource* memory);

// Writes a part with origin kMade to host memory.
void write_buffer(const schema::Binding& array, const Plan& plan, const OutputBuffer& part, uint8_t* out);

// Puts a part with origin kCopiedThenAdjusted right, where it has arrived in host memory.
void adjust_in_place(const Plan& plan, const schema::Type& type, const OutputBuffer& part, uint8_t* bytes);

}  // namespace arrowdevice::transfer
