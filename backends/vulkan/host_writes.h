// SPDX-License-Identifier: Apache-2.0
// Host memory that copies in flight will write. The CPU must wait for these copies before it reads the memory, because
// a queue is in order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace arrowdevice::vulkan {

class SubmissionQueue;

struct HostWrite {
  uintptr_t begin;
  uintptr_t end;
  std::shared_ptr<SubmissionQueue> lane;  // NULL for the queue that keeps the list
  uint64_t number;                        // number of the submission that writes
};

using HostWrites = std::vector<HostWrite>;

}  // namespace arrowdevice::vulkan
