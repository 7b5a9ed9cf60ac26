// SPDX-License-Identifier: Apache-2.0
#include "cuda/calls.h"

#include <cstdlib>
#include <cstring>

namespace standin::cuda {
namespace {

constexpr int kDefaultVersion = 12080;

std::atomic<bool> started{false};
std::atomic<int> sticky{0};

// Returns true if the error loses all contexts. A destroyed context does not affect others.
bool is_sticky(int code) {
  const bool is_of_others =
      code == 701 || code == CUDA_ERROR_CONTEXT_IS_DESTROYED || code == 712 || code == 713 || code == 720;
  return code == 214 || code == 220 || code == 226 || code == 810 || code == 911 ||
         (code >= 700 && code <= 721 && !is_of_others);
}

}  // namespace

int driver_version() {
  const char* text = std::getenv("STANDIN_DRIVER_VERSION");
  return text != nullptr ? std::atoi(text) : kDefaultVersion;
}

void start() { started = true; }

CUresult begin(const char* call, int failing) {
  if (!started && std::strcmp(call, "cuInit") != 0 && std::strcmp(call, "cuDriverGetVersion") != 0) {
    violation("%s is called before cuInit", call);
  }
  if (sticky != 0) return static_cast<CUresult>(sticky.load());
  if (is_sticky(failing)) {
    sticky = failing;
    machine().lose();
  }
  if (failing == 0 && !captures::allows(call)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return static_cast<CUresult>(failing);
}

bool has_failed_for_good() { return sticky != 0; }

CUresult lasting_failure() { return static_cast<CUresult>(sticky.load()); }

void* stream_of(Machine& gpus, CUstream stream, const char* call) {
  const int device = current_device(call);
  if (value_of(stream) <= kStreamPerThread) {
    return gpus.default_stream(device, current());
  }
  if (gpus.device_of_stream(stream) != device) {
    violation("%s: the stream is of GPU %d, and GPU %d is current", call, gpus.device_of_stream(stream), device);
  }
  check_context(value_of(stream), current(), call);
  return stream;
}

void* uncaptured_stream_of(Machine& gpus, CUstream stream, const char* call) {
  void* const found = stream_of(gpus, stream, call);
  captures::check_no_capture(found, call);
  return found;
}

}  // namespace standin::cuda
