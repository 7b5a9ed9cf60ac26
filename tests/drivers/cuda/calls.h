// SPDX-License-Identifier: Apache-2.0
// Common code of the entry points of the libcuda.so.1 stand-in. The stand-in has only the entry points that
// the backend and the applications of the tests use.
//
//   STANDIN_DRIVER_VERSION   12080 for CUDA 12.8; newer entry points are missing
//   STANDIN_WITHOUT          functions that the driver refuses, each followed by a comma: "cuMemGetInfo,"
//   STANDIN_HOST_PAGES       set if the GPUs use pageable memory by the page tables of the host, like a GH200
//   STANDIN_NO_DESCRIPTORS   set if memory cannot leave the process as a descriptor, as in some virtual machines
//   STANDIN_MIG              set if the GPUs are MIG partitions, which have UUIDs of their own
#pragma once

#include <cstdint>

#include "cuda/api.h"
#include "cuda/contexts.h"
#include "machine/capture.h"
#include "machine/entry_point.h"

// Begins each entry point. Returns a planned failure.
#define BEGIN(call) \
  ENTER(call);      \
  if (const CUresult early = standin::cuda::begin(kCall, failing)) return early

// Begins each entry point that frees or destroys. Such a call may report a failure of earlier work, but it
// frees the object in any case.
#define BEGIN_GIVING_BACK(call)                               \
  ENTER(call);                                                \
  const CUresult late = standin::cuda::begin(kCall, failing); \
  if (standin::cuda::has_failed_for_good() || late == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) return late

namespace standin::cuda {

using namespace arrowdevice::cuda;  // NOLINT: the vendor's types, which every line is written with
namespace captures = standin::captures;
using standin::check_device;
using standin::check_granularity;
using standin::value_of;

int driver_version();

// Records that cuInit was called.
void start();

// Returns the result of a call that is planned to fail with `failing`, or 0. After an error that a GPU
// cannot recover from, every later call returns that error.
CUresult begin(const char* call, int failing);
bool has_failed_for_good();
// Returns that error, or success.
CUresult lasting_failure();

// Does the same as stream_of(), for work that must not become part of an application's graph.
void* uncaptured_stream_of(Machine& gpus, CUstream stream, const char* call);

// Returns the machine's stream. The default streams belong to the current context.
void* stream_of(Machine& gpus, CUstream stream, const char* call);

}  // namespace standin::cuda
