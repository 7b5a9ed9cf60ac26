// SPDX-License-Identifier: Apache-2.0
// Device memory. The program sees the pages without access rights, so that a stray CPU read crashes. The engine uses a
// second view.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arrowdevice::sim {

class Pages {
 public:
  // Fills the start with nonzero bytes, so that a read of uninitialized memory is noticed.
  explicit Pages(int64_t size);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* address() const { return address_; }  // for the program; access faults
  std::byte* bytes() const { return bytes_; }      // for the engine
  int64_t size() const { return size_; }

  static int64_t alignment();

 private:
  int64_t size_;
  std::byte* address_;
  std::byte* bytes_;
};

}  // namespace arrowdevice::sim
