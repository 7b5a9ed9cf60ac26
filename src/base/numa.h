// SPDX-License-Identifier: Apache-2.0
// The NUMA nodes of the host, as Linux describes them in sysfs. Every function takes the folder of sysfs as a parameter
// for tests.
#pragma once

#include <sched.h>

#include <string>
#include <string_view>

namespace arrowdevice::numa {

inline constexpr const char* kSysfs = "/sys";

// Returns the node that is nearest to a device on the PCI bus, or -1 if it is unknown. `pci_id` is as a driver reports
// it, such as "0000:3B:00.0".
int node_of(std::string_view pci_id, const std::string& sysfs = kSysfs);

// Returns the processors of a node. The set is empty if they are unknown.
cpu_set_t processors_of(int node, const std::string& sysfs = kSysfs);

}  // namespace arrowdevice::numa
