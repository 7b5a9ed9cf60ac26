// SPDX-License-Identifier: Apache-2.0
// Ranges for profilers that understand NVTX, such as NVIDIA's Nsight Systems. The library needs neither the headers nor
// a library of NVTX.
#pragma once

namespace arrowdevice::nvtx {

// Loads the profiler's library that NVTX_INJECTION64_PATH names, once. Returns true if the profiler takes ranges. A
// library that cannot be used is logged.
bool attach();

// Begins and ends a range of the calling thread, in the domain "libarrowdevice". Requires that attach() returned true.
void push(const char* name) noexcept;
void pop() noexcept;

}  // namespace arrowdevice::nvtx
