// SPDX-License-Identifier: Apache-2.0
// Many copies between one buffer and host memory in one command. The command is a native kernel, which a CPU device
// runs on its own thread in queue order.
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
  // The kernel's arguments: a header and its pieces. The driver copies them, so the library frees nothing later, even
  // if the kernel never runs.
  std::vector<std::byte> arguments_;
};

}  // namespace arrowdevice::opencl
