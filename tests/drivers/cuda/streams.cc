// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "cuda/calls.h"

using namespace standin::cuda;  // NOLINT: what every line is written with
using standin::violation;

EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  BEGIN("cuStreamCreate");
  if (flags != CU_STREAM_NON_BLOCKING) violation("%s: a stream that the default stream waits for (%u)", kCall, flags);
  *stream = static_cast<CUstream>(gpus.create_stream(current_device(kCall)));
  made_here(value_of(*stream));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  BEGIN_GIVING_BACK("cuStreamDestroy_v2");
  check_context(value_of(stream), current(), kCall);
  gpus.destroy_stream(current_device(kCall), stream);
  gone(value_of(stream));
  return late;
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  BEGIN("cuStreamSynchronize");
  gpus.synchronize(stream_of(gpus, stream, kCall));
  return lasting_failure();
}

EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  BEGIN("cuStreamWaitEvent");
  if (flags != 0) violation("%s: flags %u", kCall, flags);
  void* const waiting = uncaptured_stream_of(gpus, stream, kCall);
  if (captures::was_captured(event)) violation("%s: the wait makes the stream part of a graph", kCall);
  gpus.wait_on(waiting, event);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  BEGIN("cuStreamGetCtx");
  current_device(kCall);
  gpus.device_of_stream(stream);  // checks the handle
  *context = static_cast<CUcontext>(context_of(value_of(stream)));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  BEGIN("cuStreamGetCtx_v2");
  current_device(kCall);
  gpus.device_of_stream(stream);  // checks the handle
  void* const owner = context_of(value_of(stream));
  *context = static_cast<CUcontext>(without_green(owner));
  *green = *context == owner ? nullptr : static_cast<CUgreenCtx>(owner);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  BEGIN("cuStreamIsCapturing");
  *status = static_cast<CUstreamCaptureStatus>(captures::status(stream_of(gpus, stream, kCall)));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  BEGIN("cuThreadExchangeStreamCaptureMode");
  *mode = static_cast<CUstreamCaptureMode>(captures::exchange(static_cast<captures::Mode>(*mode)));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent* event, unsigned flags) {
  BEGIN("cuEventCreate");
  if ((flags & CU_EVENT_DISABLE_TIMING) == 0) violation("%s: an event with timing (%u)", kCall, flags);
  *event = static_cast<CUevent>(gpus.create_event(current_device(kCall), (flags & CU_EVENT_BLOCKING_SYNC) != 0));
  made_here(value_of(*event));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  BEGIN_GIVING_BACK("cuEventDestroy_v2");
  check_context(value_of(event), current(), kCall);
  gpus.destroy_event(current_device(kCall), event);
  captures::forget(event);
  gone(value_of(event));
  return late;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  BEGIN("cuEventRecord");
  check_context(value_of(event), current(), kCall);
  void* const recording = stream_of(gpus, stream, kCall);
  captures::record(event, recording);
  if (!captures::was_captured(event)) gpus.record(event, recording);
  return CUDA_SUCCESS;
}

// Includes the work of all streams of the context. By the vendor's text, it fails while one of them is being captured,
// and invalidates the capture, in any mode.
EXPORT CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  BEGIN("cuCtxRecordEvent");
  check_context(value_of(event), context, kCall);
  if (captures::invalidate_all()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  gpus.record_all(event, [&](void* stream) {
    void* const owner = context_of(value_of(stream));
    return owner == nullptr || without_green(owner) == context;
  });
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventQuery(CUevent event) {
  BEGIN("cuEventQuery");
  current_device(kCall);
  if (captures::was_captured(event)) return CUDA_ERROR_CAPTURED_EVENT;
  return gpus.is_done(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

EXPORT CUresult cuEventSynchronize(CUevent event) {
  BEGIN("cuEventSynchronize");
  current_device(kCall);
  if (captures::was_captured(event)) return CUDA_ERROR_CAPTURED_EVENT;
  gpus.wait(event);
  return lasting_failure();
}
