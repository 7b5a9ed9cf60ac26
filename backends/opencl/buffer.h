// SPDX-License-Identifier: Apache-2.0
// Buffers and sub-buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "opencl/device.h"

namespace arrowdevice::opencl {

// A range of bytes in a buffer that is not a sub-buffer.
struct BufferRange {
  cl_mem parent;
  size_t offset;
};

// The buffers and sub-buffers of the library. A batch has a sub-buffer for each column, and the driver would have to be
// asked three times for each. All functions are thread-safe.
class OwnBuffers {
 public:
  // Returns the instance, which is created at first use and never destroyed.
  static OwnBuffers& instance();

  cl_mem allocate(const Device& device, int64_t size, int64_t alignment);
  // Adds a buffer of `size` bytes that is not a sub-buffer.
  cl_mem add(Owned<cl_mem> buffer, int64_t size);
  // Creates a sub-buffer. If `buffer` is a sub-buffer, the result is a sub-buffer of its parent, because OpenCL allows
  // only one level.
  cl_mem make_sub_buffer(cl_mem buffer, int64_t offset, int64_t size);
  void release(cl_mem buffer) noexcept;

  // Finds the buffers of a batch with one lock.
  class Reader;

 private:
  struct Known {
    BufferRange range;
    int64_t size;
  };

  cl_mem add(Owned<cl_mem> buffer, const Known& known);

  std::shared_mutex mutex_;  // guards the member below
  std::unordered_map<cl_mem, Known> buffers_;
};

class OwnBuffers::Reader {
 public:
  // Throws EINVAL if the range is not within the buffer. `region` is its number in the batch. Asks the driver about a
  // foreign buffer, without the lock.
  BufferRange resolve(cl_mem buffer, int64_t region, int64_t offset, int64_t size);

 private:
  OwnBuffers& own_ = instance();
  std::shared_lock<std::shared_mutex> lock_{own_.mutex_};
};

// Returns nullopt if the driver does not know the handle, or if it is an image or a pipe.
std::optional<int64_t> known_size(cl_mem buffer);

}  // namespace arrowdevice::opencl
