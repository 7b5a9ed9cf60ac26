// SPDX-License-Identifier: Apache-2.0
#include "conformance/gate.h"

#include <string>
#include <string_view>

#include "conformance/loaded.h"
#include "support/calls.h"

namespace arrowdevice::conformance {
namespace {

using testing::expect;
using testing::output_of;

// Both vendors declare the function in the same way. It returns 0 on success.
using LaunchHostFunction = int(void* stream, void (*function)(void* user), void* user);

void wait(void* is_open) { static_cast<std::atomic<bool>*>(is_open)->wait(false); }

template <typename Function>
Function* find(const char* library, const char* symbol) {
  Function* found = nullptr;
  find_loaded(library, symbol, found);
  return found;
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

bool is_of(const arrowdevice_device_info& info, std::string_view backend) { return backend == info.backend; }

// The OpenCL functions that a gate needs, of the loader that the backend has opened.
struct OpenCl {
  template <typename Function>
  static Function* find_here(const char* symbol) {
    return find<Function>("libOpenCL.so.1", symbol);
  }

  void* (*create_user_event)(void* context, int* code) = find_here<void*(void*, int*)>("clCreateUserEvent");
  int (*enqueue_barrier)(void* queue, unsigned n, void* const* events, void** event) =
      find_here<int(void*, unsigned, void* const*, void**)>("clEnqueueBarrierWithWaitList");
  int (*flush)(void* queue) = find_here<int(void*)>("clFlush");
  int (*set_status)(void* event, int status) = find_here<int(void*, int)>("clSetUserEventStatus");
  int (*release)(void* event) = find_here<int(void*)>("clReleaseEvent");

  bool is_complete() const {
    return create_user_event != nullptr && enqueue_barrier != nullptr && flush != nullptr && set_status != nullptr &&
           release != nullptr;
  }
};

}  // namespace

bool finishes_copies(const arrowdevice_device_info& info) { return info.staging_type == info.device_type; }

bool Gate::is_offered(const arrowdevice_device_info& info) {
  if (finishes_copies(info)) return false;
  return (is_of(info, "cuda") && find_cuda<LaunchHostFunction>("cuLaunchHostFunc") != nullptr) ||
         (is_of(info, "hip") && find_hip<LaunchHostFunction>("hipLaunchHostFunc") != nullptr) ||
         (is_of(info, "opencl") && OpenCl().is_complete()) || has_own_events(info);
}

bool Gate::has_own_events(const arrowdevice_device_info& info) {
  return is_of(info, "level_zero") && LevelZero().is_complete();
}

Gate::Gate(arrowdevice_device* device, arrowdevice_queue* queue) {
  const auto info = output_of(arrowdevice_device_get_info, device);
  void* const native = output_of(arrowdevice_queue_get_native, queue).queue;
  if (is_of(info, "cuda")) {
    shut_cuda(device, native);
  } else if (is_of(info, "hip")) {
    shut_hip(device, native);
  } else if (is_of(info, "opencl")) {
    shut_opencl(device, native);
  } else {
    shut_level_zero(device, native);
  }
}

Gate::~Gate() {
  if (destroy_) destroy_();
}

void Gate::mark_end(arrowdevice_queue* queue) {
  level_zero_->append_signal(output_of(arrowdevice_queue_get_native, queue).queue, events_.ends);
  destroy_ = [this] {
    level_zero_->wait(events_.ends);
    level_zero_->destroy(events_);
  };
}

void Gate::hold_until_end(arrowdevice_queue* queue) const {
  level_zero_->append_wait(output_of(arrowdevice_queue_get_native, queue).queue, events_.ends);
}

void Gate::open() {
  if (is_open_.exchange(true)) return;
  is_open_.notify_all();
  if (signal_) signal_();
}

void Gate::shut_cuda(arrowdevice_device* device, void* stream) {
  const auto native = output_of(arrowdevice_device_get_native, device);
  void* popped = nullptr;
  expect(find_cuda<int(void*)>("cuCtxPushCurrent_v2")(native.context) == 0, "cuCtxPushCurrent");
  const int code = find_cuda<LaunchHostFunction>("cuLaunchHostFunc")(stream, wait, &is_open_);
  expect(find_cuda<int(void**)>("cuCtxPopCurrent_v2")(&popped) == 0, "cuCtxPopCurrent");
  expect(code == 0, "cuLaunchHostFunc gave " + std::to_string(code));
}

void Gate::shut_hip(arrowdevice_device* device, void* stream) {
  int former = 0;
  const auto id = static_cast<int>(output_of(arrowdevice_device_get_info, device).device_id);
  expect(find_hip<int(int*)>("hipGetDevice")(&former) == 0, "hipGetDevice");
  expect(find_hip<int(int)>("hipSetDevice")(id) == 0, "hipSetDevice");
  const int code = find_hip<LaunchHostFunction>("hipLaunchHostFunc")(stream, wait, &is_open_);
  expect(find_hip<int(int)>("hipSetDevice")(former) == 0, "hipSetDevice");
  expect(code == 0, "hipLaunchHostFunc gave " + std::to_string(code));
}

// The barrier holds all later commands of the queue.
void Gate::shut_opencl(arrowdevice_device* device, void* queue) {
  const OpenCl cl;
  int code = 0;
  void* const event = cl.create_user_event(output_of(arrowdevice_device_get_native, device).context, &code);
  expect(code == 0, "clCreateUserEvent gave " + std::to_string(code));
  code = cl.enqueue_barrier(queue, 1, &event, nullptr);
  if (code == 0) code = cl.flush(queue);
  if (code != 0) {
    cl.set_status(event, 0);
    cl.release(event);
  }
  expect(code == 0, "clEnqueueBarrierWithWaitList gave " + std::to_string(code));
  signal_ = [cl, event] { cl.set_status(event, 0); };
  destroy_ = [cl, event] { cl.release(event); };
}

void Gate::shut_level_zero(arrowdevice_device* device, void* list) {
  level_zero_.emplace();
  events_ = level_zero_->create_events(output_of(arrowdevice_device_get_native, device).context);
  signal_ = [this] { level_zero_->signal(events_.opens); };
  destroy_ = [this] { level_zero_->destroy(events_); };
  level_zero_->append_wait(list, events_.opens);
}

}  // namespace arrowdevice::conformance
