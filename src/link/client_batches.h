// SPDX-License-Identifier: Apache-2.0
// The batches of a stream, as one client of a server gets them: in memory that it can open, and described by a message.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "array/owners.h"
#include "base/file_descriptor.h"
#include "device/device.h"
#include "device/pool.h"
#include "link/sent_allocations.h"
#include "schema/build.h"
#include "schema/tree.h"
#include "stream/upstream.h"
#include "transfer/move.h"

namespace arrowdevice::link {

// Not thread-safe.
class ClientBatches {
 public:
  struct Batch {
    std::vector<int64_t> forgotten;  // ids of allocations that were freed, so that the client closes them
    std::vector<uint8_t> message;
    std::vector<FileDescriptor> descriptors;
    std::shared_ptr<array::BufferOwner> owner;
    int64_t bytes = 0;
    int64_t copied_bytes = 0;
  };

  // With `is_isolated`, all batches are copied into pools that only this client sees, of up to `max_bytes` each.
  ClientBatches(schema::UniqueSchema type, const transfer::CopyOptions& copying, bool is_isolated, int64_t max_bytes)
      : type_(std::move(type)),
        tree_(type_.get()),
        copying_(copying),
        is_isolated_(is_isolated),
        max_bytes_(max_bytes) {}

  // Throws ENOTSUP if copies are ruled out. `type` is that of the devices that the client cannot open.
  void check_copying(ArrowDeviceType type) const;

  // Puts the batches of the stream on the CPU. After a failure the stream is unchanged.
  void copy_to_cpu(stream::Upstream<ArrowDeviceArrayStream>& stream);

  // Makes a batch of an array, which stays valid.
  Batch make(ArrowDeviceArray& array);

 private:
  std::shared_ptr<device::Pool> own_pool(device::Device& device);

  const schema::UniqueSchema type_;
  const schema::Tree tree_;
  transfer::CopyOptions copying_;
  const bool is_isolated_;
  const int64_t max_bytes_;
  bool is_copied_ = false;  // the stream gives copies on the CPU, which no other client sees if this one is isolated
  std::map<const device::Device*, std::shared_ptr<device::Pool>> pools_;
  SentAllocations sent_allocations_;
};

}  // namespace arrowdevice::link
