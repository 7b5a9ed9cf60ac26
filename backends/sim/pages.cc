// SPDX-License-Identifier: Apache-2.0
#include "sim/pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "sim/file_size.h"

namespace arrowdevice::sim {
namespace {

constexpr int kFreshByte = 0xA5;

// Limits the filled part, so that a large unused allocation costs no memory.
constexpr int64_t kFreshSize = 64 * 1024;

// Other processes can write the memory, as they can write that of a GPU. No process can make it smaller.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr int kSealFutureWrite = 16;  // F_SEAL_FUTURE_WRITE, Linux 5.1
constexpr int kSealsOfSizeAndWrites = kSeals | F_SEAL_WRITE | kSealFutureWrite;

}  // namespace

class MemoryFile {
 public:
  explicit MemoryFile(int64_t size)
      : file_(::memfd_create("arrowdevice-sim", MFD_CLOEXEC | MFD_ALLOW_SEALING)), size_(size) {
    if (!file_) refuse();
    const FileSizeErrors errors;
    if (::ftruncate(file_.get(), size) != 0) refuse();
  }
  // Opens the file of another process.
  explicit MemoryFile(int descriptor) : file_(FileDescriptor::duplicate_of(descriptor)) {
    if (!file_ && errno != EBADF) refuse();
    struct stat facts {};
    const int seals = file_ ? ::fcntl(file_.get(), F_GET_SEALS) : -1;
    if (seals < 0 || (seals & kSealsOfSizeAndWrites) != kSeals || ::fstat(file_.get(), &facts) != 0 ||
        facts.st_size <= 0) {
      throw Error(EINVAL, format("descriptor %d is no memory of a simulated device", descriptor));
    }
    size_ = facts.st_size;
  }

  int64_t size() const noexcept { return size_; }

  std::byte* map(int rights) const {
    void* place = ::mmap(nullptr, static_cast<size_t>(size_), rights, MAP_SHARED | MAP_NORESERVE, file_.get(), 0);
    return place == MAP_FAILED ? nullptr : static_cast<std::byte*>(place);
  }

  void seal() const {
    if (::fcntl(file_.get(), F_ADD_SEALS, kSeals) != 0) refuse();
  }

  FileDescriptor take() noexcept { return std::move(file_); }

  // A limit on file sizes (EFBIG) or on descriptors is not a lack of memory.
  [[noreturn]] void refuse(int error = errno) const {
    const bool is_a_limit = error == EFBIG || error == EMFILE || error == ENFILE;
    throw Error(is_a_limit ? error : ENOMEM,
                format("host memory for %lld bytes of a simulated device: %s%s", static_cast<long long>(size_),
                       std::strerror(error), error == EFBIG ? " (the limit of ulimit -f)" : ""));
  }

 private:
  FileDescriptor file_;
  int64_t size_ = 0;
};

Pages::Pages(const MemoryFile& file) : size_(file.size()) {
  address_ = file.map(PROT_NONE);
  if (address_ == nullptr) file.refuse();
  bytes_ = file.map(PROT_READ | PROT_WRITE);
  if (bytes_ == nullptr) {
    const int error = errno;
    ::munmap(address_, static_cast<size_t>(size_));
    file.refuse(error);
  }
}

Pages::Pages(int64_t size) : Pages(MemoryFile(size)) {
  std::memset(bytes_, kFreshByte, static_cast<size_t>(std::min(size, kFreshSize)));
}

std::shared_ptr<Pages> Pages::shareable(int64_t size) {
  MemoryFile file(size);
  file.seal();
  std::shared_ptr<Pages> pages(new Pages(file));
  pages->file_ = file.take();
  return pages;
}

std::shared_ptr<Pages> Pages::open(int descriptor) { return std::shared_ptr<Pages>(new Pages(MemoryFile(descriptor))); }

FileDescriptor Pages::duplicate() const {
  if (!file_) return {};
  auto duplicate = FileDescriptor::duplicate_of(file_.get());
  if (!duplicate) throw Error(errno, format("a descriptor for simulated memory: %s", std::strerror(errno)));
  return duplicate;
}

Pages::~Pages() {
  ::munmap(address_, static_cast<size_t>(size_));
  ::munmap(bytes_, static_cast<size_t>(size_));
}

int64_t Pages::alignment() { return ::sysconf(_SC_PAGESIZE); }

}  // namespace arrowdevice::sim
