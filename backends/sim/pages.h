// SPDX-License-Identifier: Apache-2.0
// Device memory. The program sees the pages without access rights, so that a stray CPU read crashes. The engine uses a
// second view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/file_descriptor.h"

namespace arrowdevice::sim {

class MemoryFile;

class Pages {
 public:
  // Fills the start with nonzero bytes, so that a read of uninitialized memory is noticed.
  explicit Pages(int64_t size);

  // Makes pages of zeros that other processes can open.
  static std::shared_ptr<Pages> shareable(int64_t size);

  // Opens pages of another process. Throws Error(EINVAL) if the descriptor is none of such pages.
  static std::shared_ptr<Pages> open(int descriptor);

  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* address() const { return address_; }  // for the program; access faults
  std::byte* bytes() const { return bytes_; }      // for the engine
  int64_t size() const { return size_; }

  // Returns a new descriptor of shareable pages, or none for others.
  FileDescriptor duplicate() const;

  static int64_t alignment();

 private:
  explicit Pages(const MemoryFile& file);

  int64_t size_;
  std::byte* address_ = nullptr;
  std::byte* bytes_ = nullptr;
  FileDescriptor file_;  // of shareable pages
};

}  // namespace arrowdevice::sim
