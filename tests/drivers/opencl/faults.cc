// SPDX-License-Identifier: Apache-2.0
#include "drivers/opencl/faults.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>

#include "drivers/machine/control.h"
#include "opencl/vendor.h"

namespace opencl_faults {
namespace {

#define EXPORTED __attribute__((visibility("default")))

struct State {
  std::mutex mutex;
  std::string planned;  // "" means any
  long nth = 0;         // 0: nothing is planned
  int code = 0;
  long until_loss = 0;
  bool is_lost = false;
  long failures = 0;
  std::string failed;
  std::map<std::string, long> calls;
  long submissions = 0;
  std::map<std::string, long> live;
  std::vector<std::function<void()>> releases;  // releases that failed
};

State& state() {
  static auto& instance = *new State;
  return instance;
}

bool begins(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }

bool is_submission(const std::string& function) { return begins(function, "clEnqueue"); }

// Returns true if the function needs the device. Other functions still work after the device is lost:
// queries of the driver's own data, and releases.
bool needs_device(const std::string& function) {
  return is_submission(function) || begins(function, "clCreate") || function == "clFlush" ||
         function == "clWaitForEvents" || function == "clGetEventInfo";
}

// Returns the code to return instead of forwarding the call, or CL_SUCCESS.
int intercept(const std::string& function) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  ++now.calls[function];
  if (is_submission(function)) {
    ++now.submissions;
    if (now.until_loss > 0 && --now.until_loss == 0) now.is_lost = true;
  }
  if (now.is_lost && needs_device(function)) {
    if (now.failed.empty()) now.failed = function;
    ++now.failures;
    return CL_DEVICE_NOT_AVAILABLE;
  }
  const bool is_any = now.planned.empty() && !begins(function, "clRelease");
  const bool is_meant = now.nth > 0 && (is_any || now.planned == function);
  if (!is_meant || --now.nth > 0) return CL_SUCCESS;
  now.failed = function;
  ++now.failures;
  return now.code;
}

void count(const std::string& object, long by) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.live[object] += by;
}

// Counts the references of a call that succeeded.
void count_references(const std::string& function) {
  for (const char* object : {"Context", "CommandQueue", "MemObject", "Event"}) {
    if (function == std::string("clRetain") + object) count(object, 1);
    if (function == std::string("clRelease") + object) count(object, -1);
  }
  if (function == "clCreateContext") count("Context", 1);
  if (begins(function, "clCreateCommandQueue")) count("CommandQueue", 1);
  if (function == "clCreateBuffer" || function == "clCreateSubBuffer") count("MemObject", 1);
  if (function == "clCreateUserEvent") count("Event", 1);
}

// Stores a failed release until reset().
void put_off(std::function<void()> release) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.releases.push_back(std::move(release));
}

template <typename Function>
Function* real(const char* name) {
  static void* const loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const symbol = loader != nullptr ? dlsym(loader, name) : nullptr;
  if (symbol == nullptr) {
    std::fprintf(stderr, "the OpenCL loader has no %s: %s\n", name, dlerror());
    std::abort();
  }
  return reinterpret_cast<Function*>(symbol);
}

}  // namespace

EXPORTED const std::vector<std::string>& functions() {
  static const std::vector<std::string> names = {
#define ANSWERS(name, parameters, arguments) #name,
#define ENQUEUES ANSWERS
#define MAKES(result, name, parameters, arguments) #name,
#define RELEASES(name, handle) #name,
#include "drivers/opencl/forwarded.inc"
#undef ANSWERS
#undef ENQUEUES
#undef MAKES
#undef RELEASES
  };
  return names;
}

EXPORTED void reset() {
  State& now = state();
  std::vector<std::function<void()>> releases;
  {
    const std::lock_guard lock(now.mutex);
    releases.swap(now.releases);
  }
  for (const auto& release : releases) release();
  const std::lock_guard lock(now.mutex);
  now.planned.clear();
  now.failed.clear();
  now.calls.clear();
  now.nth = now.until_loss = now.submissions = 0;
  now.is_lost = false;
}

EXPORTED void plan(const std::string& function, long nth, int code) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.planned = function;
  now.nth = nth;
  now.code = code;
}

EXPORTED void plan_any(long nth, int code) { plan("", nth, code); }

EXPORTED void plan_loss(long nth) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.until_loss = nth;
}

EXPORTED long failures() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.failures;
}

EXPORTED std::string failed() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.failed;
}

EXPORTED long calls(const std::string& function) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.calls[function];
}

EXPORTED long submissions() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.submissions;
}

EXPORTED long live(const std::string& object) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.live[object];
}

}  // namespace opencl_faults

extern "C" {

EXPORTED const char* standin_entry_point(int64_t index) {
  const auto& names = opencl_faults::functions();
  return index < std::ssize(names) ? names[static_cast<size_t>(index)].c_str() : nullptr;
}
EXPORTED void standin_fail_nth(const char* call, int64_t n, int code) {
  opencl_faults::plan(call, n, code != 0 ? code : CL_OUT_OF_RESOURCES);
}
EXPORTED void standin_fail_no_more() { opencl_faults::reset(); }
EXPORTED int64_t standin_calls(const char* call) { return opencl_faults::calls(call); }
EXPORTED int64_t standin_failed() { return opencl_faults::failures(); }
EXPORTED void standin_live(int64_t* allocations, int64_t* queues, int64_t* events) {
  *allocations = opencl_faults::live("MemObject");
  *queues = opencl_faults::live("CommandQueue");
  *events = opencl_faults::live("Event");
}
}

#define ANSWERS(name, parameters, arguments)                                    \
  extern "C" EXPORTED cl_int CL_API_CALL name parameters {                      \
    static auto* const forward = opencl_faults::real<decltype(::name)>(#name);  \
    if (const int code = opencl_faults::intercept(#name); code != CL_SUCCESS) { \
      return code;                                                              \
    }                                                                           \
    const cl_int code = forward arguments;                                      \
    if (code == CL_SUCCESS) opencl_faults::count_references(#name);             \
    return code;                                                                \
  }
#define ENQUEUES(name, parameters, arguments)                                     \
  extern "C" EXPORTED cl_int CL_API_CALL name parameters {                        \
    static auto* const forward = opencl_faults::real<decltype(::name)>(#name);    \
    if (const int code = opencl_faults::intercept(#name); code != CL_SUCCESS) {   \
      return code;                                                                \
    }                                                                             \
    const cl_int code = forward arguments;                                        \
    if (code == CL_SUCCESS && event != nullptr) opencl_faults::count("Event", 1); \
    return code;                                                                  \
  }
#define MAKES(result, name, parameters, arguments)                              \
  extern "C" EXPORTED result CL_API_CALL name parameters {                      \
    static auto* const forward = opencl_faults::real<decltype(::name)>(#name);  \
    if (const int code = opencl_faults::intercept(#name); code != CL_SUCCESS) { \
      *errcode_ret = code;                                                      \
      return nullptr;                                                           \
    }                                                                           \
    result made = forward arguments;                                            \
    if (made != nullptr) opencl_faults::count_references(#name);                \
    return made;                                                                \
  }
#define RELEASES(name, handle)                                                  \
  extern "C" EXPORTED cl_int CL_API_CALL name(handle one) {                     \
    static auto* const forward = opencl_faults::real<decltype(::name)>(#name);  \
    const auto release = [one] {                                                \
      const cl_int code = forward(one);                                         \
      if (code == CL_SUCCESS) opencl_faults::count_references(#name);           \
      return code;                                                              \
    };                                                                          \
    if (const int code = opencl_faults::intercept(#name); code != CL_SUCCESS) { \
      opencl_faults::put_off(release);                                          \
      return code;                                                              \
    }                                                                           \
    return release();                                                           \
  }
#include "drivers/opencl/forwarded.inc"
