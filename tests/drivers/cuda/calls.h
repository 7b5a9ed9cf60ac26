// SPDX-License-Identifier: Apache-2.0
// What the entry points of the stand-in for libcuda.so.1 have in common. It has those that the backend uses, and no
// more.
//
//   STANDIN_DRIVER_VERSION   12080 for CUDA 12.8; newer entry points are not there
#pragma once

#include <cstdint>

#include "cuda/api.h"
#include "cuda/contexts.h"
#include "machine/machine.h"
#include "machine/violation.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

// Each entry point begins with it: the call is counted, fails if it was asked to, and `gpus` are at hand.
#define BEGIN(call)                                                            \
  constexpr const char* kCall = call;                                          \
  int failing = 0;                                                             \
  [[maybe_unused]] standin::Machine& gpus = standin::machine(kCall, &failing); \
  if (const CUresult early = standin::cuda::begin(kCall, failing)) return early

// What takes something back tells of failures of earlier work too, and has taken it back all the same.
#define BEGIN_GIVING_BACK(call)                               \
  constexpr const char* kCall = call;                         \
  int failing = 0;                                            \
  standin::Machine& gpus = standin::machine(kCall, &failing); \
  const CUresult late = standin::cuda::begin(kCall, failing); \
  if (standin::cuda::has_failed_for_good()) return late

namespace standin::cuda {

using namespace arrowdevice::cuda;  // NOLINT: the vendor's types, which every line is written with

int driver_version();

// cuInit was called.
void start();

// What a call gives that is to fail with a code, or with 0: an error that a GPU does not recover from is what every
// call gives from then on.
CUresult begin(const char* call, int failing);
bool has_failed_for_good();

void check_device(const Machine& gpus, CUdevice device, const char* call);

inline uintptr_t number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// The default streams belong to the context that is current.
void* stream_of(Machine& gpus, CUstream stream, const char* call);

}  // namespace standin::cuda
