// SPDX-License-Identifier: Apache-2.0
// What the library says in its log.
#pragma once

namespace allocations {

void listen_to_log();
void forget_log();

// Since then.
bool has_given_memory_up();
bool has_left_devices_out();

}  // namespace allocations
