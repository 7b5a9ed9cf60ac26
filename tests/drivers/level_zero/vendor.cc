// SPDX-License-Identifier: Apache-2.0
// Level Zero as the vendor of tests that all drivers share.
#include "drivers/vendor.h"

#include "drivers/level_zero/application.h"

namespace drivers {

// Returns the calls that the shared tests of Level Zero need. The others are NULL.
const Vendor& vendor() {
  static const Vendor made = [] {
    Vendor names{};
    names.name = "Level Zero";
    names.library = "libze_loader.so.1";
    names.device = ARROW_DEVICE_ONEAPI;
    names.copy = "zeCommandListAppendMemoryCopy";
    names.question = "zeMemGetAllocProperties";
    names.asks_before_copies = true;
    return names;
  }();
  return made;
}

int64_t calls(const std::string& call) { return level_zero::calls(call); }

}  // namespace drivers
