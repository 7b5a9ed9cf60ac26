// SPDX-License-Identifier: Apache-2.0
// Common code of the entry points of the libamdhip64 stand-in. The stand-in has only the entry points that the backend
// and the applications of the tests use.
//
//   STANDIN_HIP_VERSION     60200000 for HIP 6.2; before 6 the memory types have other numbers,
//                           and a query of unknown memory fails
//   STANDIN_NO_DESCRIPTORS  set if there is no virtual memory
#pragma once

#include <cstdint>

#include "hip/api.h"
#include "machine/capture.h"
#include "machine/entry_point.h"

// Begins each entry point. Returns a planned failure.
#define BEGIN(call) \
  ENTER(call);      \
  if (const hipError_t early = standin::hip::begin(kCall, failing)) return early

// Begins each entry point that frees or destroys. Such a call may report a failure of earlier work, but it
// frees the object in any case.
#define BEGIN_GIVING_BACK(call)                                \
  ENTER(call);                                                 \
  const hipError_t late = standin::hip::begin(kCall, failing); \
  if (standin::hip::has_failed_for_good() || late == hipErrorStreamCaptureUnsupported) return late

namespace standin::hip {

using namespace arrowdevice::hip;  // NOLINT: the vendor's types, which every line is written with
namespace captures = standin::captures;
using standin::check_device;
using standin::check_granularity;
using standin::value_of;

int hip_version();

// Records that hipInit was called.
void start();

// Returns the result of a call that is planned to fail with `failing`, or 0. After an error that a GPU cannot recover
// from, every later call returns that error.
hipError_t begin(const char* call, int failing);
bool has_failed_for_good();
// Returns that error, or success.
hipError_t lasting_failure();

// Returns the error, and keeps it for take_last_error().
hipError_t fail(hipError_t error);
// Returns the last error of this thread, and forgets it.
hipError_t take_last_error();

// The current device of this thread.
int& current();

// Returns the machine's stream. The default streams belong to the current device.
void* stream_of(Machine& gpus, hipStream_t stream, const char* call);

// Does the same for work that must not become part of an application's graph.
void* uncaptured_stream_of(Machine& gpus, hipStream_t stream, const char* call);

}  // namespace standin::hip
