// SPDX-License-Identifier: Apache-2.0
// Device memory: pages that the program sees without access rights, so that a stray read of the CPU crashes, and that
// the engine reads and writes through a second view.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arrowdevice::sim {

class Pages {
 public:
  // The start is filled with bytes that are not zero: nobody finds what was never written plausible.
  explicit Pages(int64_t size);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* address() const { return address_; }  // for the program: faults when touched
  std::byte* bytes() const { return bytes_; }      // for the engine
  int64_t size() const { return size_; }

  static int64_t alignment();

 private:
  int64_t size_;
  std::byte* address_;
  std::byte* bytes_;
};

}  // namespace arrowdevice::sim
