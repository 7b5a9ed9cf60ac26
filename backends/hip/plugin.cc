// SPDX-License-Identifier: Apache-2.0
// The plugin's entry point, which is its only exported symbol.
#include "cuda_like/table.h"
#include "hip/hip_driver.h"

namespace arrowdevice::hip {
namespace {

using cuda_like::MemoryKind;

constexpr cuda_like::ServedType kServed[] = {{ARROW_DEVICE_ROCM, MemoryKind::kDevice},
                                             {ARROW_DEVICE_ROCM_HOST, MemoryKind::kPinned}};
constexpr ArrowDeviceType kTypes[] = {ARROW_DEVICE_ROCM, ARROW_DEVICE_ROCM_HOST};

// Never destroyed, because its devices stay in use until the process ends.
const cuda_like::Backend& backend() {
  static const auto* const made = new cuda_like::Backend{.name = "hip",
                                                         .version = ARROWDEVICE_HIP_VERSION,
                                                         .device_types = kTypes,
                                                         .gpus = *new cuda_like::Gpus(open_driver, kServed)};
  return *made;
}

}  // namespace
}  // namespace arrowdevice::hip

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::cuda_like::enter(arrowdevice::hip::backend(), host_abi, error);
}
