// SPDX-License-Identifier: Apache-2.0
#include "level_zero/reach.h"

#include <arrowdevice/arrowdevice.h>

#include "level_zero/api.h"
#include "level_zero/codes.h"

namespace arrowdevice::level_zero {

uint32_t reach(const Device* from, const Device* to) {
  if (from == to) return ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
  if (from == nullptr || to == nullptr) return ARROWDEVICE_PEER_COPY;
  // Memory can be used only in its own context.
  if (&from->context() != &to->context()) return 0;
  // Reports no access, although a peer's kernels could use the memory in place, because an array must be on the device
  // that it names.
  return to->physical().use([&]() -> uint32_t {
    ze_bool_t can = 0;
    check("zeDeviceCanAccessPeer",
          api().zeDeviceCanAccessPeer(to->physical().native(), from->physical().native(), &can));
    return can != 0 ? ARROWDEVICE_PEER_COPY : 0;
  });
}

}  // namespace arrowdevice::level_zero
