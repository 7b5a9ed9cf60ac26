// SPDX-License-Identifier: Apache-2.0
// Records the messages of the library's log.
#pragma once

namespace allocations {

void listen_to_log();
void forget_log();

// Return true if the library logged this after forget_log().
bool has_given_memory_up();
bool has_left_devices_out();

}  // namespace allocations
