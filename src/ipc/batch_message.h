// SPDX-License-Identifier: Apache-2.0
// Record batches and dictionary batches as messages of Arrow's IPC format.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ipc/message.h"

namespace arrowdevice::ipc {

// The format defines the layouts of these two structs.
struct FieldNode {
  int64_t length;
  int64_t null_count;

  friend bool operator==(const FieldNode&, const FieldNode&) = default;
};
struct BodyBuffer {
  int64_t offset;  // from the start of the body
  int64_t length;  // without padding

  friend bool operator==(const BodyBuffer&, const BodyBuffer&) = default;
};

// The header of a dictionary batch.
struct DictionaryHeader {
  int64_t id = 0;
  bool is_delta = false;  // the values are appended to the dictionary, instead of replacing it

  friend bool operator==(const DictionaryHeader&, const DictionaryHeader&) = default;
};

struct Batch {
  int64_t length = 0;
  std::vector<FieldNode> nodes;
  std::vector<BodyBuffer> buffers;
  std::vector<int64_t> variadic_counts;
  int64_t body_length = 0;
  std::optional<DictionaryHeader> dictionary;  // of a dictionary batch

  // In version 4, a union has a validity bitmap. The library does not write version 4.
  bool has_union_bitmaps = false;

  friend bool operator==(const Batch&, const Batch&) = default;
};

Bytes write_batch(const Batch& batch, const char* message_metadata = nullptr);

// Reads a record batch or a dictionary batch. Checks no number; array_over_body() does. Throws EINVAL for another kind
// of message, and ENOTSUP for a compressed body.
Batch read_batch(const Message& message);

}  // namespace arrowdevice::ipc
