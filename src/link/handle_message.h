// SPDX-License-Identifier: Apache-2.0
// The bytes of a handle: an array's structs, with locations in allocations instead of addresses.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"

namespace arrowdevice::link {

// Limit of the descriptors of a handle: the write end of its pipe, and one for each allocation.
inline constexpr size_t kMostDescriptors = 32;

struct MessageNode {
  int64_t length = 0;
  int64_t null_count = 0;
  int64_t offset = 0;
  int64_t n_buffers = 0;
};

// The location of a buffer in an allocation.
struct MessageBuffer {
  static constexpr int64_t kNone = -1;

  int64_t allocation = kNone;  // kNone: the buffer is NULL or has no bytes
  int64_t offset = 0;          // bytes
  int64_t length = 0;          // bytes
};

struct HandleMessage {
  HandleMessage() = default;
  explicit HandleMessage(const device::Device& device);  // of an array on that device

  ArrowDeviceType device_type = 0;
  int64_t device_id = 0;                               // in the owner process
  uint8_t device_uuid[16] = {};                        // zeros for the CPU
  std::vector<arrowdevice_memory_record> allocations;  // `descriptor` is a position in the handle's descriptors, or -1
  std::vector<MessageNode> nodes;                      // in the order of schema::Tree
  std::vector<MessageBuffer> buffers;                  // of all nodes, in the order of the nodes
  std::vector<uint8_t> schema;                         // a message of Arrow's IPC format
};

std::vector<uint8_t> write_handle(const HandleMessage& message);

// Reads the bytes of a handle. Checks that they are complete, but not the numbers. Throws EINVAL, or ENOTSUP for bytes
// of another version.
HandleMessage read_handle(std::span<const uint8_t> bytes);

}  // namespace arrowdevice::link
