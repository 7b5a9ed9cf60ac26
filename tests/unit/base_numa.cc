// SPDX-License-Identifier: Apache-2.0
// Tests how the nodes of the host are read, on made-up folders.
#include "base/numa.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "sysfs.h"

namespace {

namespace numa = arrowdevice::numa;
using arrowdevice::testing::Sysfs;

std::vector<int> processors_of(int node, const Sysfs& sysfs) {
  const cpu_set_t set = numa::processors_of(node, sysfs.path());
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) processors.push_back(cpu);
  }
  return processors;
}

TEST_CASE("the node of a PCI device is read by its id in either case") {
  Sysfs sysfs;
  sysfs.write("bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  CHECK(numa::node_of("0000:3b:00.0", sysfs.path()) == 1);
  CHECK(numa::node_of("0000:3B:00.0", sysfs.path()) == 1);
}

TEST_CASE("the node of a PCI device is unknown if sysfs does not know it") {
  Sysfs sysfs;
  sysfs.write("bus/pci/devices/0000:3b:00.0/numa_node", "-1\n");
  sysfs.write("bus/pci/devices/0000:3c:00.0/numa_node", "");
  sysfs.write("bus/pci/devices/0000:3d:00.0/numa_node", "near\n");
  sysfs.write("bus/pci/devices/0000:3e:00.0/numa_node", "-7\n");
  sysfs.write("bus/pci/devices/numa_node", "1\n");
  sysfs.write("bus/pci/numa_node", "1\n");
  sysfs.write("bus/pci/other/numa_node", "1\n");
  for (const char* id :
       {"0000:3b:00.0", "0000:3c:00.0", "0000:3d:00.0", "0000:3e:00.0", "0000:3f:00.0", "", "../other"}) {
    INFO(id);
    CHECK(numa::node_of(id, sysfs.path()) == -1);
  }
}

TEST_CASE("the processors of a node are read from a list of numbers and ranges") {
  Sysfs sysfs;
  const std::string last = std::to_string(CPU_SETSIZE - 1);
  sysfs.write("devices/system/node/node0/cpulist", "0-3,8\n");
  sysfs.write("devices/system/node/node1/cpulist", "4\n");
  sysfs.write("devices/system/node/node2/cpulist", "1,5-6,9-9\n");
  sysfs.write("devices/system/node/node3/cpulist", last + "-2000000000\n");
  CHECK(processors_of(0, sysfs) == std::vector{0, 1, 2, 3, 8});
  CHECK(processors_of(1, sysfs) == std::vector{4});
  CHECK(processors_of(2, sysfs) == std::vector{1, 5, 6, 9});
  CHECK(processors_of(3, sysfs) == std::vector{CPU_SETSIZE - 1});
}

TEST_CASE("a node without a readable list has no processors") {
  Sysfs sysfs;
  sysfs.write("devices/system/node/node0/cpulist", "\n");
  sysfs.write("devices/system/node/node1/cpulist", "all\n");
  sysfs.write("devices/system/node/node2/cpulist", "-3\n");
  sysfs.write("devices/system/node/node3/cpulist", "3-1\n");
  for (int node = -1; node <= 4; ++node) {
    INFO(node);
    CHECK(processors_of(node, sysfs).empty());
  }
}

}  // namespace
