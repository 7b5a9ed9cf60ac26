// SPDX-License-Identifier: Apache-2.0
// Streams of Arrow's IPC format in memory, which the codec of the library reads and writes.
//
//   const Bytes stream = write_stream(*schema, {array.get()});
//   const ReadStream back = read_stream(stream);
//   CHECK(difference(*schema, *array, *back.schema, *back.batches[0]) == "");
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "ipc/array_over_body.h"
#include "ipc/schema_message.h"
#include "ipc/stream_reader.h"
#include "support/owned.h"

namespace ipc_test {

using arrowdevice::ipc::Batch;
using arrowdevice::ipc::Bytes;
using arrowdevice::ipc::Columns;
using arrowdevice::testing::Owned;

// A body with exactly its bytes, so that the address sanitizer sees a read past the end. It begins at a multiple of 64.
struct HeapBody final : arrowdevice::ipc::HostBytes {
  explicit HeapBody(std::span<const uint8_t> bytes) {
    size = static_cast<int64_t>(bytes.size());
    address = static_cast<uint8_t*>(::operator new(bytes.size(), std::align_val_t(64)));
    if (!bytes.empty()) std::memcpy(address, bytes.data(), bytes.size());
  }
  ~HeapBody() override { ::operator delete(address, std::align_val_t(64)); }
};

// A batch and its body.
struct PackedBatch {
  Batch batch;
  Bytes body;
};
PackedBatch pack(const ArrowSchema& schema, const ArrowArray& array, Columns columns);

// Makes an array over a copy of the bytes. Throws as array_over_body() does.
Owned<ArrowArray> unpack(const ArrowSchema& schema, Columns columns, const Batch& batch, std::span<const uint8_t> body,
                         std::span<const ArrowArray* const> dictionaries = {});

// Writes a stream of record batches, whose arrays have no offsets. Each batch comes with its dictionaries.
Bytes write_stream(const ArrowSchema& schema, const std::vector<const ArrowArray*>& batches);

struct ReadStream {
  Owned<ArrowSchema> schema;
  std::vector<Owned<ArrowArray>> batches;
};

// Reads a stream. Throws arrowdevice::Error for one that is not valid.
ReadStream read_stream(std::span<const uint8_t> stream);

}  // namespace ipc_test
