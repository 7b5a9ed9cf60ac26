// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace arrowdevice::bench {

// Evicts data, code and translations of addresses from the processor's caches.
class CacheEviction {
 public:
  CacheEviction();
  ~CacheEviction();
  CacheEviction(const CacheEviction&) = delete;

  void run();

 private:
  const size_t size_;
  unsigned char* const memory_;
};

}  // namespace arrowdevice::bench
