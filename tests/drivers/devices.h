// SPDX-License-Identifier: Apache-2.0
// The devices of the tests: GPU 0 of the vendor under test, and the CPU.
#pragma once

#include <arrowdevice/arrowdevice.h>

namespace drivers {

arrowdevice_device* gpu();
arrowdevice_device* cpu();

}  // namespace drivers
