// SPDX-License-Identifier: Apache-2.0
#include "hip/calls.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace standin::hip {
namespace {

constexpr int kDefaultVersion = 60'200'000;

std::atomic<bool> started{false};
std::atomic<int> sticky{0};
thread_local hipError_t last_error = hipSuccess;

bool is_sticky(int code) {
  return code == 214 || code == 700 || code == 702 || code == 709 || code == 710 || code == 719;
}

}  // namespace

int hip_version() {
  const char* text = std::getenv("STANDIN_HIP_VERSION");
  return text != nullptr ? std::atoi(text) : kDefaultVersion;
}

void start() { started = true; }

hipError_t begin(const char* call, int failing) {
  if (!started && std::strcmp(call, "hipInit") != 0 && std::strcmp(call, "hipRuntimeGetVersion") != 0) {
    violation("%s is called before hipInit", call);
  }
  if (sticky != 0) return fail(lasting_failure());
  if (is_sticky(failing)) {
    sticky = failing;
    machine().lose();
  }
  if (failing == 0 && !captures::allows(call)) return fail(hipErrorStreamCaptureUnsupported);
  return fail(static_cast<hipError_t>(failing));
}

bool has_failed_for_good() { return sticky != 0; }

hipError_t lasting_failure() { return static_cast<hipError_t>(sticky.load()); }

hipError_t fail(hipError_t error) {
  if (error != hipSuccess) last_error = error;
  return error;
}

hipError_t take_last_error() {
  const hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}

int& current() {
  static thread_local int device = 0;
  return device;
}

void* stream_of(Machine& gpus, hipStream_t stream, const char* call) {
  if (value_of(stream) <= kStreamPerThread) return gpus.default_stream(current());
  if (gpus.device_of_stream(stream) != current()) {
    violation("%s: the stream is of GPU %d, and GPU %d is current", call, gpus.device_of_stream(stream), current());
  }
  return stream;
}

void* uncaptured_stream_of(Machine& gpus, hipStream_t stream, const char* call) {
  void* const found = stream_of(gpus, stream, call);
  captures::check_no_capture(found, call);
  return found;
}

}  // namespace standin::hip
