// SPDX-License-Identifier: Apache-2.0
// The body of a batch: the order of its buffers in the IPC format, and a plan that packs an array into a body.
//
// The order differs from that of the C data interface. The nodes are the fields in depth-first order, without
// dictionaries, which are batches of their own. A validity bitmap without nulls is empty. Binary views have no buffer
// of sizes, because the batch has the size of each buffer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ipc/batch_message.h"
#include "schema/binding.h"

namespace arrowdevice::ipc {

// The columns of a batch.
enum class Columns {
  kChildren,  // the children of a struct: a record batch
  kRoot,      // the array itself: the values of a dictionary
};

// The offsets of an array without slots. Consumers expect one, and it may have no memory.
alignas(kBodyAlignment) inline constexpr uint8_t kZeroOffset[sizeof(int64_t)] = {};

// Returns the fields that have a node, in the order of their nodes.
std::vector<int32_t> fields_in_order(const schema::Tree& tree, Columns columns);

// The buffers of an array and their positions in a packed body.
struct BodyPlan {
  Batch batch;
  std::vector<const void*> sources;  // of each buffer of the batch; any value if its length is 0
  std::vector<int64_t> offsets;      // ArrowArray::offset of each node, which IPC cannot express
};

// Plans the body of an array. Its buffers contain the slots before an array's offset too. `sizes` are the bytes of all
// buffers, as inspect::buffer_sizes() returns them. If the host can read the array, unknown null counts are counted,
// and else they stay -1. Throws EINVAL, with the path, for a record batch with an offset or nulls at its root, and for
// unknown sizes.
BodyPlan plan_body(const schema::Binding& array, Columns columns, std::span<const int64_t> sizes, bool is_on_host);

// Copies the buffers of an array on the host into a body of `batch.body_length` bytes. Other bytes become zeros. Throws
// EINVAL if a node has an offset. A copy by the copy engine has none.
void write_body(const BodyPlan& plan, uint8_t* body);

}  // namespace arrowdevice::ipc
