// SPDX-License-Identifier: Apache-2.0
// Eight threads copy to a device and back, each on its own queue. Together they copy ten thousand batches.
#include "support/catch.h"
#include "support/fixture.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of this test is written with

TEST_CASE("eight threads copy ten thousand batches on queues of their own") {
  copy_on_threads(output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_VULKAN, 0));
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
}

}  // namespace
