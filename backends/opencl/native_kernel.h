// SPDX-License-Identifier: Apache-2.0
// Many copies between one buffer and host memory as one command: a native kernel, which devices that are the CPU run on
// a thread of their own, in the order of the queue.
#pragma once

#include <cstddef>
#include <vector>

#include "opencl/handles.h"

namespace arrowdevice::opencl {

class NativeCopy {
 public:
  explicit NativeCopy(size_t pieces);

  void add(size_t offset, std::byte* host, size_t size, bool to_host);

  // Returns the event of the command.
  Owned<cl_event> enqueue(cl_command_queue queue, cl_mem buffer);

 private:
  // What the kernel gets, a header and its pieces. The driver copies it, so that nothing is left to free, whether the
  // kernel ever runs or not.
  std::vector<std::byte> arguments_;
};

}  // namespace arrowdevice::opencl
