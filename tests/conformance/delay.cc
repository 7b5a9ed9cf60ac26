// SPDX-License-Identifier: Apache-2.0
#include "conformance/delay.h"

#include <dlfcn.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "support/calls.h"

namespace arrowdevice::conformance {
namespace {

using testing::expect;
using testing::output_of;

constexpr std::chrono::milliseconds kDelay{10};

// Both vendors declare the function in the same way. It returns 0 on success.
using LaunchHostFunction = int(void* stream, void (*function)(void* user), void* user);

void wait(void*) { std::this_thread::sleep_for(kDelay); }

// Returns a function of a library that the backend has loaded, or NULL.
template <typename Function>
Function* find(const char* library, const char* symbol) {
  void* const loaded = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return loaded == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(loaded, symbol));
}

template <typename Function>
Function* find_cuda(const char* symbol) {
  return find<Function>("libcuda.so.1", symbol);
}

template <typename Function>
Function* find_hip(const char* symbol) {
  for (const char* const library : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}) {
    if (auto* const function = find<Function>(library, symbol)) return function;
  }
  return nullptr;
}

// Requires that the context of the stream is current.
void delay_cuda(arrowdevice_device* device, void* stream) {
  const auto native = output_of(arrowdevice_device_get_native, device);
  void* popped = nullptr;
  expect(find_cuda<int(void*)>("cuCtxPushCurrent_v2")(native.context) == 0, "cuCtxPushCurrent");
  const int code = find_cuda<LaunchHostFunction>("cuLaunchHostFunc")(stream, wait, nullptr);
  expect(find_cuda<int(void**)>("cuCtxPopCurrent_v2")(&popped) == 0, "cuCtxPopCurrent");
  expect(code == 0, "cuLaunchHostFunc gave " + std::to_string(code));
}

void delay_hip(arrowdevice_device* device, void* stream) {
  int former = 0;
  const auto id = static_cast<int>(output_of(arrowdevice_device_get_info, device).device_id);
  expect(find_hip<int(int*)>("hipGetDevice")(&former) == 0, "hipGetDevice");
  expect(find_hip<int(int)>("hipSetDevice")(id) == 0, "hipSetDevice");
  const int code = find_hip<LaunchHostFunction>("hipLaunchHostFunc")(stream, wait, nullptr);
  expect(find_hip<int(int)>("hipSetDevice")(former) == 0, "hipSetDevice");
  expect(code == 0, "hipLaunchHostFunc gave " + std::to_string(code));
}

bool is_of(const arrowdevice_device_info& info, std::string_view backend) { return backend == info.backend; }

}  // namespace

bool can_delay(const arrowdevice_device_info& info) {
  return (is_of(info, "cuda") && find_cuda<LaunchHostFunction>("cuLaunchHostFunc") != nullptr) ||
         (is_of(info, "hip") && find_hip<LaunchHostFunction>("hipLaunchHostFunc") != nullptr);
}

void delay(arrowdevice_device* device, arrowdevice_queue* queue) {
  const auto info = output_of(arrowdevice_device_get_info, device);
  void* const stream = output_of(arrowdevice_queue_get_native, queue).queue;
  if (is_of(info, "cuda")) return delay_cuda(device, stream);
  delay_hip(device, stream);
}

}  // namespace arrowdevice::conformance
