// SPDX-License-Identifier: Apache-2.0
// The plugin's entry point, which is its only exported symbol.
#include "cuda/cuda_driver.h"
#include "cuda_like/table.h"

namespace arrowdevice::cuda {
namespace {

using cuda_like::MemoryKind;

constexpr cuda_like::ServedType kServed[] = {{ARROW_DEVICE_CUDA, MemoryKind::kDevice},
                                             {ARROW_DEVICE_CUDA_HOST, MemoryKind::kPinned},
                                             {ARROW_DEVICE_CUDA_MANAGED, MemoryKind::kManaged}};
constexpr ArrowDeviceType kTypes[] = {ARROW_DEVICE_CUDA, ARROW_DEVICE_CUDA_HOST, ARROW_DEVICE_CUDA_MANAGED};

// Never destroyed, because its devices stay in use until the process ends.
const cuda_like::Backend& backend() {
  static const auto* const made = new cuda_like::Backend{.name = "cuda",
                                                         .version = ARROWDEVICE_CUDA_VERSION,
                                                         .device_types = kTypes,
                                                         .gpus = *new cuda_like::Gpus(open_driver, kServed),
                                                         .wraps_contexts = true};
  return *made;
}

}  // namespace
}  // namespace arrowdevice::cuda

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::cuda_like::enter(arrowdevice::cuda::backend(), host_abi, error);
}
