// SPDX-License-Identifier: Apache-2.0
#include "base/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace arrowdevice {
namespace {

// In the headers of newer systems only.
constexpr unsigned kNoExecSeal = 8;   // MFD_NOEXEC_SEAL, Linux 6.3
constexpr int kSealFutureWrite = 16;  // F_SEAL_FUTURE_WRITE, Linux 5.1

constexpr int64_t kBlockOfStat = 512;  // the unit of st_blocks

[[noreturn]] void refuse(int code, const char* what, int64_t size) {
  throw Error(
      code == EMFILE || code == ENFILE ? code : ENOMEM,
      format("shareable host memory of %lld bytes: %s: %s", static_cast<long long>(size), what, std::strerror(code)));
}

FileDescriptor create_file(int64_t size) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  FileDescriptor file(memfd_create("arrowdevice", kFlags | kNoExecSeal));
  if (!file && errno == EINVAL) file = FileDescriptor(memfd_create("arrowdevice", kFlags));
  if (!file) refuse(errno, "memfd_create", size);
  // Takes all pages now, so that no process of this memory is ended by a lack of memory later.
  int code = 0;
  do code = posix_fallocate(file.get(), 0, size);
  while (code == EINTR);
  if (code != 0) refuse(code, "posix_fallocate", size);
  return file;
}

// Other processes cannot write to the file, change its size or punch holes into it. The mapping that exists is
// writable.
void seal(const FileDescriptor& file, int64_t size) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | kSealFutureWrite | F_SEAL_SEAL;
  if (fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) refuse(errno, "F_ADD_SEALS", size);
}

void* map(const FileDescriptor& file, int64_t size) {
  void* const memory = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) refuse(errno, "mmap", size);
  // The kernel may be configured not to use huge pages here. The memory is then slower.
  [[maybe_unused]] const int advised = madvise(memory, static_cast<size_t>(size), MADV_HUGEPAGE);
  return memory;
}

// Returns the bytes of a file that has all of its pages for as long as it exists.
int64_t checked_size(int file) {
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0) throw Error(EINVAL, format("the memory's descriptor %d is no memfd: %s", file, std::strerror(errno)));
  if ((seals & F_SEAL_SHRINK) == 0 || (seals & (F_SEAL_WRITE | kSealFutureWrite)) == 0) {
    throw Error(EINVAL, format("the memory is not sealed (seals 0x%x), so its owner could remove pages", seals));
  }
  struct stat facts {};
  if (fstat(file, &facts) != 0) throw Error(EINVAL, format("fstat of the memory: %s", std::strerror(errno)));
  if (facts.st_size <= 0) throw Error(EINVAL, "the memory has no bytes");
  if (facts.st_blocks * kBlockOfStat < facts.st_size) {
    throw Error(EINVAL,
                format("the memory lacks pages: it has %lld of %lld bytes",
                       static_cast<long long>(facts.st_blocks * kBlockOfStat), static_cast<long long>(facts.st_size)));
  }
  return facts.st_size;
}

}  // namespace

// Never destroyed, because arrays may be released while the process ends.
SharedMemory& SharedMemory::instance() {
  static auto* const memory = new SharedMemory;
  return *memory;
}

void* SharedMemory::allocate(int64_t size) {
  const int64_t whole = align_up(size, sysconf(_SC_PAGESIZE));
  FileDescriptor file = create_file(whole);
  void* const memory = map(file, whole);
  try {
    seal(file, whole);
    add(memory, {std::move(file), whole});
  } catch (...) {
    munmap(memory, static_cast<size_t>(whole));
    throw;
  }
  return memory;
}

void SharedMemory::free(void* memory) noexcept { remove(memory); }

void SharedMemory::describe(const void* memory, arrowdevice_memory_record& out) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(memory);
  if (found == blocks_.end() || !found->second.file) {
    throw Error(EINVAL, format("%p is not the start of shareable host memory", memory));
  }
  auto file = FileDescriptor::duplicate_of(found->second.file.get());
  if (!file) throw Error(errno, format("a descriptor for shareable host memory: %s", std::strerror(errno)));
  out.kind = ARROWDEVICE_MEMORY_DESCRIPTOR;
  out.descriptor = file.release();
  out.size = found->second.size;
}

void* SharedMemory::open(const arrowdevice_memory_record& record, Access access, int64_t& size) {
  if (record.kind != ARROWDEVICE_MEMORY_DESCRIPTOR || record.descriptor < 0) {
    throw Error(EINVAL, format("host memory is opened by a descriptor, and the record has kind %d", record.kind));
  }
  size = checked_size(record.descriptor);
  const bool is_read_only = access == Access::kRead;
  const int rights = is_read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  const int kind = is_read_only ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
  void* const memory = mmap(nullptr, static_cast<size_t>(size), rights, kind, record.descriptor, 0);
  if (memory == MAP_FAILED) refuse(errno, "mmap", size);
  try {
    add(memory, {{}, size});
  } catch (...) {
    munmap(memory, static_cast<size_t>(size));
    throw;
  }
  return memory;
}

void SharedMemory::close(const void* memory) noexcept { remove(memory); }

void SharedMemory::add(const void* memory, Block block) {
  const std::lock_guard lock(mutex_);
  blocks_.emplace(memory, std::move(block));
}

void SharedMemory::remove(const void* memory) noexcept {
  Block block;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(memory);
    if (found == blocks_.end()) return;
    block = std::move(found->second);
    blocks_.erase(found);
  }
  munmap(const_cast<void*>(memory), static_cast<size_t>(block.size));
}

}  // namespace arrowdevice
