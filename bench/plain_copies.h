// SPDX-License-Identifier: Apache-2.0
// Copies of bytes that the library's copies are compared with.
#pragma once

#include <vector>

#include "batch.h"

namespace arrowdevice::bench {

// Memory for the bytes of all buffers, each aligned to 64 bytes. All of it has been written.
AlignedVector<char> touched_memory(const std::vector<Bytes>& buffers);

// Copies the buffers with one `memcpy` each.
void copy_plainly(const std::vector<Bytes>& buffers, AlignedVector<char>& to);

// Fills new memory in huge pages. As many threads as the machine has processors do this, up to eight as in the library.
void copy_plainly_by_threads(const Batch& batch);

}  // namespace arrowdevice::bench
