// SPDX-License-Identifier: Apache-2.0
#include "level_zero/reach.h"

#include <arrowdevice/arrowdevice.h>

#include "level_zero/api.h"
#include "level_zero/codes.h"

namespace arrowdevice::level_zero {

uint32_t reach(const Device* from, const Device* to) {
  if (from == to) return ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
  if (from == nullptr || to == nullptr) return ARROWDEVICE_PEER_COPY;
  // Memory may be used in its own context only.
  if (&from->context() != &to->context()) return 0;
  // Kernels of peers could use it in place, but an array is to be on the device that it names.
  return to->physical().use([&]() -> uint32_t {
    ze_bool_t can = 0;
    check("zeDeviceCanAccessPeer",
          api().zeDeviceCanAccessPeer(to->physical().native(), from->physical().native(), &can));
    return can != 0 ? ARROWDEVICE_PEER_COPY : 0;
  });
}

}  // namespace arrowdevice::level_zero
