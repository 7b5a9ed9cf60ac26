// SPDX-License-Identifier: Apache-2.0
// Enqueues a batch of regions as commands of a queue.
#pragma once

#include <arrowdevice/backend.h>

#include <span>
#include <vector>

#include "opencl/buffer.h"
#include "opencl/device.h"
#include "opencl/pending.h"

namespace arrowdevice::opencl {

class Copy {
 public:
  // Enqueued commands are added to `pending`.
  Copy(const Device& device, cl_command_queue queue, Pending& pending)
      : device_(device), queue_(queue), pending_(pending) {}

  void enqueue(std::span<const arrowdevice_backend_region> regions);

 private:
  // A copy between a buffer and host memory.
  struct HostPiece {
    cl_mem buffer;
    size_t offset;
    std::byte* host;
    size_t size;
    bool to_host;
  };

  struct DevicePiece {
    cl_mem to, from;
    size_t to_offset, from_offset;
    size_t size;
  };

  void sort_in(OwnBuffers::Reader& buffers, const arrowdevice_backend_region& region, int64_t number);
  void add(const HostPiece& piece);
  void check_context(const void* device) const;
  void enqueue_host_pieces();
  void enqueue_commands(std::span<const HostPiece> pieces);
  static size_t scattered_run(std::span<const HostPiece> pieces);
  void enqueue_command(const HostPiece& piece);
  void enqueue_kernel(std::span<const HostPiece> pieces);
  void enqueue_device_piece(const DevicePiece& piece);

  const Device& device_;
  const cl_command_queue queue_;
  Pending& pending_;
  std::vector<HostPiece> host_pieces_;
  std::vector<DevicePiece> device_pieces_;
};

}  // namespace arrowdevice::opencl
