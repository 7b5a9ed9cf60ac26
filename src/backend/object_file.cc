// SPDX-License-Identifier: Apache-2.0
#include "backend/object_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/error.h"

// The header of the object that contains this code, under the linker's name.
extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

namespace arrowdevice::backend {
namespace {

[[noreturn]] void refuse_for_errno() {
  if (errno == ENOMEM) throw std::bad_alloc();  // not an error of the file
  throw Error(errno == ENOENT ? ENOENT : EINVAL, std::strerror(errno));
}

class File {
 public:
  // Opens a file without blocking, even if it is not a regular file.
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) refuse_for_errno();
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Returns false if the file ends before the struct.
  template <typename Struct>
  bool read(uint64_t offset, Struct* out) const {
    return pread(descriptor_, out, sizeof *out, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof *out);
  }

  struct stat status() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) refuse_for_errno();
    return status;
  }

 private:
  const int descriptor_;
};

bool is_for_this_machine(const ElfW(Ehdr) & header) {
  const ElfW(Ehdr)& own = __ehdr_start;
  return header.e_ident[EI_CLASS] == own.e_ident[EI_CLASS] && header.e_ident[EI_DATA] == own.e_ident[EI_DATA] &&
         header.e_machine == own.e_machine;
}

void check_segments(const File& file, const ElfW(Ehdr) & header, uint64_t size) {
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    uint64_t end = 0;
    if (!file.read(header.e_phoff + i * sizeof segment, &segment) ||
        (segment.p_type == PT_LOAD &&
         (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) || end > size))) {
      throw Error(EINVAL, "a shared object that is not whole: the file ends after " + std::to_string(size) + " bytes");
    }
  }
}

}  // namespace

void check_shared_object(const std::string& path) {
  const File file(path);
  const struct stat status = file.status();
  if (S_ISDIR(status.st_mode)) throw Error(EINVAL, "a folder, not a file");
  if (!S_ISREG(status.st_mode)) throw Error(EINVAL, "not a regular file");
  ElfW(Ehdr) header;
  if (!file.read(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    throw Error(EINVAL, "not a shared object");
  }
  if (!is_for_this_machine(header)) throw Error(EINVAL, "a shared object for another architecture");
  if (header.e_type != ET_DYN || header.e_phentsize != sizeof(ElfW(Phdr))) throw Error(EINVAL, "not a shared object");
  check_segments(file, header, static_cast<uint64_t>(status.st_size));
}

}  // namespace arrowdevice::backend
