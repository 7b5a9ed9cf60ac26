// SPDX-License-Identifier: Apache-2.0
// The host memory of a batch of copies, merged into ranges of whole pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "vulkan/host_import.h"

namespace arrowdevice::vulkan {

struct HostRange {
  uintptr_t begin;
  uintptr_t end;
  std::shared_ptr<const HostImport> import;  // NULL if the range is staged
};

class HostRanges {
 public:
  void add(const void* memory, VkDeviceSize size) {
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    ranges_.push_back({begin, begin + size, nullptr});
  }

  // Merges ranges on the same page or on adjacent pages. All pages of the merged range are therefore mapped.
  void join(uintptr_t page) {
    std::ranges::sort(ranges_, {}, &HostRange::begin);
    std::vector<HostRange> joined;
    for (auto& range : ranges_) {
      if (!joined.empty() && range.begin / page <= (joined.back().end - 1) / page + 1) {
        joined.back().end = std::max(joined.back().end, range.end);
      } else {
        joined.push_back(std::move(range));
      }
    }
    ranges_ = std::move(joined);
  }

  std::vector<HostRange>& all() noexcept { return ranges_; }

  // Returns the range that contains memory passed to add().
  HostRange& of(const void* memory) {
    const auto address = reinterpret_cast<uintptr_t>(memory);
    const auto after = std::ranges::upper_bound(ranges_, address, {}, &HostRange::begin);
    return *std::prev(after);
  }

 private:
  std::vector<HostRange> ranges_;
};

}  // namespace arrowdevice::vulkan
