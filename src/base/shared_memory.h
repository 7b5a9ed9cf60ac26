// SPDX-License-Identifier: Apache-2.0
// Host memory that other processes can map: files without a name that cannot shrink, and only their maker writes to.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "base/file_descriptor.h"
#include "base/process.h"

namespace arrowdevice {

// Any thread may call this class.
class SharedMemory {
 public:
  static SharedMemory& instance();

  // Allocates memory that contains zeros, with all of its pages. Throws ENOMEM.
  void* allocate(int64_t size);
  void free(void* memory) noexcept;

  // Describes memory of allocate(), by its start. Throws EINVAL for other memory.
  void describe(const void* memory, arrowdevice_memory_record& out);

  enum class Access {
    kRead,           // a write is a SIGSEGV
    kPrivateWrites,  // a write changes a copy of the page, which only this process sees
  };

  // Maps the file of a record. Throws EINVAL if the file may shrink, or has fewer pages than its size. A missing page
  // costs memory of this process when it is read. A hostile owner can hide that pages are missing, by pages behind the
  // end of the file.
  void* open(const arrowdevice_memory_record& record, Access access, int64_t& size);
  void close(const void* memory) noexcept;

 private:
  struct Block {
    FileDescriptor file;  // none for memory of another process
    int64_t size = 0;
  };

  void add(const void* memory, Block block);
  void remove(const void* memory) noexcept;

  std::mutex mutex_;
  process::UsableAcrossFork usable_across_fork_{mutex_};
  std::map<const void*, Block> blocks_;
};

}  // namespace arrowdevice
