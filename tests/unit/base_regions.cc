// SPDX-License-Identifier: Apache-2.0
// Tests regions of zeros.
#include "base/regions.h"

#include <cstddef>
#include <vector>

#include "support/catch.h"

namespace {

using arrowdevice::kZeroBlockBytes;
using arrowdevice::regions_of_zeros;

TEST_CASE("regions of zeros cover memory once, and read no more zeros than there are") {
  int device = 0;
  const std::vector<std::byte> zeros(kZeroBlockBytes);
  for (const int64_t size : {int64_t{1}, kZeroBlockBytes - 1, kZeroBlockBytes, kZeroBlockBytes + 1, 3 * kZeroBlockBytes,
                             3 * kZeroBlockBytes + 5}) {
    INFO(size << " bytes");
    std::vector<std::byte> memory(static_cast<size_t>(size), std::byte{'x'});
    int64_t end = 0;
    for (const auto& region : regions_of_zeros(&device, memory.data(), size, zeros.data())) {
      CHECK(region.dst_device == &device);
      CHECK(region.src_device == nullptr);
      CHECK(region.dst_offset == end);
      REQUIRE(region.size > 0);
      REQUIRE(region.src_offset + region.size <= kZeroBlockBytes);
      arrowdevice::check_region_bounds(0, region.dst_offset, region.size, size);
      arrowdevice::copy_on_host(region);
      end = region.dst_offset + region.size;
    }
    CHECK(end == size);
    CHECK((memory == std::vector<std::byte>(static_cast<size_t>(size))));
  }
}

}  // namespace
