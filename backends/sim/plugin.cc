// SPDX-License-Identifier: Apache-2.0
// The plugin's entry point, which is its only exported symbol.
#include "base/plugin_entry.h"
#include "sim/simulation.h"
#include "sim/table.h"

namespace arrowdevice::sim {
namespace {

const arrowdevice_backend& configured_table() {
  static const arrowdevice_backend table = [] {
    const Configuration configuration = Configuration::from_environment();
    simulation().configure(configuration);
    return make_table(configuration.without);
  }();
  return table;
}

}  // namespace
}  // namespace arrowdevice::sim

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::enter_plugin("simulated", host_abi, error, arrowdevice::sim::configured_table);
}
