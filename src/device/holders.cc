// SPDX-License-Identifier: Apache-2.0
#include "device/holders.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace arrowdevice::device {

std::string Holders::text(int64_t waiting_bytes) const {
  static constexpr const char* kNames[kKinds] = {"copies", "streams", "application", "staging"};
  std::array<size_t, kKinds> order = {0, 1, 2, 3};
  std::ranges::sort(order, std::greater(), [&](size_t kind) { return held_[kind].bytes; });
  std::string text;
  for (const size_t kind : order) {
    const Held& held = held_[kind];
    if (held.allocations == 0) continue;
    text += std::string(text.empty() ? "" : ", ") + kNames[kind] + " " + size_text(held.bytes) + " in " +
            std::to_string(held.allocations) +
            (text.empty() ? held.allocations == 1 ? " allocation" : " allocations" : "");
  }
  if (waiting_bytes > 0) {
    text += std::string(text.empty() ? "" : ", ") + "released but in use by the device " + size_text(waiting_bytes);
  }
  return text;
}

}  // namespace arrowdevice::device
