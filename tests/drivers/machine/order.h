// SPDX-License-Identifier: Apache-2.0
// The known order of work: how much work of each stream has finished, as far as a stream, an event or the
// program knows. A rule that is checked with this does not depend on timing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace standin {

// The number of finished pieces of work by stream.
class Order {
 public:
  void set(uint64_t stream, uint64_t work) { work_[stream] = work; }

  void merge(const Order& other) {
    for (const auto& [stream, work] : other.work_) {
      auto& ours = work_[stream];
      ours = std::max(ours, work);
    }
  }

  // Returns true if this order or `also` knows that all work in `other` has finished.
  bool covers(const Order& other, const Order& also) const {
    return std::ranges::all_of(other.work_, [&](const auto& entry) {
      return std::max(of(entry.first), also.of(entry.first)) >= entry.second;
    });
  }

 private:
  uint64_t of(uint64_t stream) const {
    const auto found = work_.find(stream);
    return found == work_.end() ? 0 : found->second;
  }

  std::map<uint64_t, uint64_t> work_;
};

}  // namespace standin
