// SPDX-License-Identifier: Apache-2.0
// Arrays over the body of a batch that another process has sent.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>
#include <span>

#include "array/output.h"
#include "ipc/batch_layout.h"

namespace arrowdevice::ipc {

// The memory of a body.
struct Body {
  const void* address;  // of any device with addresses
  int64_t size;
  bool is_on_host;  // the CPU can read the memory
};

// Makes an array over a body, without a copy. `owner` keeps the body and the dictionaries. `dictionaries` are the
// arrays of dictionary_fields(tree); those inside of other dictionaries are not used, because an array has its own.
//
// The sender is not trusted: every number of the batch is checked against the size of the body. A number that the data
// has is not checked, because a peer that shares the memory may change it at any time. The exception are the last
// offsets of binaries in host memory. They must lie in the body now, because no later check knows the size of the data.
// inspect::validate() checks the rest, and a copy checks what it reads.
//
// Throws EINVAL with the path of the field.
void array_over_body(const schema::Tree& tree, Columns columns, const Batch& batch, const Body& body,
                     std::span<const ArrowArray* const> dictionaries, std::shared_ptr<array::BufferOwner> owner,
                     ArrowArray* out);

}  // namespace arrowdevice::ipc
