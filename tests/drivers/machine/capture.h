// SPDX-License-Identifier: Apache-2.0
// Captures of streams into graphs, by the rules of cuThreadExchangeStreamCaptureMode() and
// cuStreamBeginCapture(), which HIP has too. No graph is made. While a thread captures, calls that may be
// unsafe fail in the threads that the modes name, and invalidate the captures that forbid them.
#pragma once

namespace standin::captures {

// The vendors' numbers.
enum Mode : unsigned { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum Status : unsigned { kNone = 0, kActive = 1, kInvalidated = 2 };

// Sets the mode of the calling thread, which is kGlobal at first. Returns its former mode.
Mode exchange(Mode mode);

// Ends the process if the stream is being captured already.
void begin(void* stream, Mode mode);
// Returns false if the capture was invalidated. Ends the process if there is no capture.
bool end(void* stream);
Status status(void* stream);

// Returns true if `call` may be made on this thread now. If not, it has invalidated the captures.
bool allows(const char* call);

// Invalidates all captures. Returns false if there was none.
bool invalidate_all();

// Ends the process if the stream is being captured: the library's work would become part of the
// application's graph.
void check_no_capture(void* stream, const char* call);

// Records that an event was recorded in a capture, or outside of one.
void record(void* event, void* stream);
void forget(void* event);
bool was_captured(void* event);

}  // namespace standin::captures
