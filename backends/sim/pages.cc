// SPDX-License-Identifier: Apache-2.0
#include "sim/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "sim/file_size.h"

namespace arrowdevice::sim {
namespace {

constexpr int kFreshByte = 0xA5;

// Limits the filled part, so that a large unused allocation costs no memory.
constexpr int64_t kFreshSize = 64 * 1024;

class MemoryFile {
 public:
  explicit MemoryFile(int64_t size) : fd_(::memfd_create("arrowdevice-sim", MFD_CLOEXEC)), size_(size) {
    if (fd_ < 0) refuse();
    const FileSizeErrors errors;
    if (::ftruncate(fd_, size) != 0) {
      const int error = errno;
      ::close(fd_);
      refuse(error);
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::byte* map(int rights) const {
    void* place = ::mmap(nullptr, static_cast<size_t>(size_), rights, MAP_SHARED | MAP_NORESERVE, fd_, 0);
    return place == MAP_FAILED ? nullptr : static_cast<std::byte*>(place);
  }

  // A limit on file sizes (EFBIG) is not a lack of memory.
  [[noreturn]] void refuse(int error = errno) const {
    throw Error(error == EFBIG ? EFBIG : ENOMEM,
                format("host memory for %lld bytes of a simulated device: %s%s", static_cast<long long>(size_),
                       std::strerror(error), error == EFBIG ? " (the limit of ulimit -f)" : ""));
  }

 private:
  int fd_;
  int64_t size_;
};

}  // namespace

Pages::Pages(int64_t size) : size_(size) {
  const MemoryFile file(size);
  address_ = file.map(PROT_NONE);
  if (address_ == nullptr) file.refuse();
  bytes_ = file.map(PROT_READ | PROT_WRITE);
  if (bytes_ == nullptr) {
    ::munmap(address_, static_cast<size_t>(size_));
    file.refuse();
  }
  std::memset(bytes_, kFreshByte, static_cast<size_t>(std::min(size, kFreshSize)));
}

Pages::~Pages() {
  ::munmap(address_, static_cast<size_t>(size_));
  ::munmap(bytes_, static_cast<size_t>(size_));
}

int64_t Pages::alignment() { return ::sysconf(_SC_PAGESIZE); }

}  // namespace arrowdevice::sim
