// SPDX-License-Identifier: Apache-2.0
#include "drivers/vendor.h"

#include <dlfcn.h>

// Turns the leak sanitizer off, because it sometimes crashes in forked children with threads. The stand-in
// checks leaks of driver objects. The same tests on the simulated device check leaks of the library.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace drivers {
namespace {

constexpr Vendor kCuda{.name = "CUDA",
                       .library = "libcuda.so.1",
                       .device = ARROW_DEVICE_CUDA,
                       .pinned = ARROW_DEVICE_CUDA_HOST,
                       .allocate = "cuMemAlloc_v2",
                       .free = "cuMemFree_v2",
                       .allocate_on = "cuMemAllocFromPoolAsync",
                       .free_on = "cuMemFreeAsync",
                       .allocate_pinned = "cuMemHostAlloc",
                       .free_pinned = "cuMemFreeHost",
                       .copy = "cuMemcpyAsync",
                       .record = "cuEventRecord",
                       .query = "cuEventQuery",
                       .wait_on = "cuStreamWaitEvent",
                       .create_stream = "cuStreamCreate",
                       .synchronize = "cuStreamSynchronize",
                       .create_event = "cuEventCreate",
                       .question = "cuPointerGetAttributes"};
constexpr Vendor kHip{.name = "HIP",
                      .library = "libamdhip64.so.7",
                      .device = ARROW_DEVICE_ROCM,
                      .pinned = ARROW_DEVICE_ROCM_HOST,
                      .allocate = "hipMalloc",
                      .free = "hipFree",
                      .allocate_on = "hipMallocFromPoolAsync",
                      .free_on = "hipFreeAsync",
                      .allocate_pinned = "hipHostMalloc",
                      .free_pinned = "hipHostFree",
                      .copy = "hipMemcpyAsync",
                      .record = "hipEventRecord",
                      .query = "hipEventQuery",
                      .wait_on = "hipStreamWaitEvent",
                      .create_stream = "hipStreamCreateWithFlags",
                      .synchronize = "hipStreamSynchronize",
                      .create_event = "hipEventCreateWithFlags",
                      .question = "hipPointerGetAttributes"};

void check(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + " gave " + std::to_string(result));
}

template <typename... Arguments>
void must_call(const char* cuda_symbol, const char* hip_symbol, Arguments... arguments) {
  const char* const symbol = is_cuda() ? cuda_symbol : hip_symbol;
  check(call(symbol, arguments...), symbol);
}

// Makes a GPU current for a scope.
class Scope {
 public:
  explicit Scope(int ordinal) { make_current(ordinal); }
  ~Scope() { undo_make_current(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kWithoutTiming = 2;

}  // namespace

const Vendor& vendor() {
  static const Vendor* const chosen = [] {
    const char* name = std::getenv("STANDIN_VENDOR");
    if (name == nullptr) throw std::runtime_error("STANDIN_VENDOR is not set");
    return std::string(name) == "hip" ? &kHip : &kCuda;
  }();
  return *chosen;
}

bool is_cuda() { return &vendor() == &kCuda; }

void* find(const char* symbol) {
  static void* const library = ::dlopen(vendor().library, RTLD_NOW);
  void* const function = library != nullptr ? ::dlsym(library, symbol) : nullptr;
  if (function == nullptr) throw std::runtime_error(std::string("the stand-in has no ") + symbol);
  return function;
}

void fail_nth(const std::string& name, int64_t n, int code) { call("standin_fail_nth", name.c_str(), n, code); }

void fail_no_more() { call("standin_fail_no_more"); }

void hold_call(const std::string& name) { call("standin_hold_call", name.c_str()); }

int64_t calls(const std::string& name) {
  return reinterpret_cast<int64_t (*)(const char*)>(find("standin_calls"))(name.c_str());
}

void hold() { call("standin_hold"); }

void resume() { call("standin_resume"); }

int64_t live_allocations() {
  int64_t allocations = 0, streams = 0, events = 0;
  call("standin_live", &allocations, &streams, &events);
  return allocations;
}

std::vector<std::string> entry_points() {
  const auto entry = reinterpret_cast<const char* (*)(int64_t)>(find("standin_entry_point"));
  std::vector<std::string> names;
  for (int64_t i = 0; const char* name = entry(i); ++i) names.emplace_back(name);
  return names;
}

std::string name_in_messages(const std::string& entry_point) {
  for (const std::string name : {"cuDeviceGetUuid", "cuDevicePrimaryCtxRelease"}) {
    if (entry_point.starts_with(name)) return name;
  }
  return entry_point;
}

intptr_t current() {
  if (is_cuda()) {
    void* context = nullptr;
    check(call("cuCtxGetCurrent", &context), "cuCtxGetCurrent");
    return reinterpret_cast<intptr_t>(context);
  }
  int device = -1;
  check(call("hipGetDevice", &device), "hipGetDevice");
  return device;
}

void make_current(int ordinal) {
  if (!is_cuda()) return check(call("hipSetDevice", ordinal), "hipSetDevice");
  void* context = nullptr;
  check(call("cuDevicePrimaryCtxRetain", &context, ordinal), "cuDevicePrimaryCtxRetain");
  check(call("cuCtxPushCurrent_v2", context), "cuCtxPushCurrent_v2");
}

void undo_make_current() {
  if (!is_cuda()) return check(call("hipSetDevice", 0), "hipSetDevice");
  void* context = nullptr;
  check(call("cuCtxPopCurrent_v2", &context), "cuCtxPopCurrent_v2");
}

void* create_stream(int ordinal) {
  const Scope scope(ordinal);
  void* stream = nullptr;
  must_call(kCuda.create_stream, kHip.create_stream, &stream, kNonBlocking);
  return stream;
}

void destroy_stream(int ordinal, void* stream) {
  const Scope scope(ordinal);
  must_call("cuStreamDestroy_v2", "hipStreamDestroy", stream);
}

void* create_event(int ordinal) {
  const Scope scope(ordinal);
  void* event = nullptr;
  must_call("cuEventCreate", "hipEventCreateWithFlags", &event, kWithoutTiming);
  return event;
}

void destroy_event(int ordinal, void* event) {
  const Scope scope(ordinal);
  must_call("cuEventDestroy_v2", "hipEventDestroy", event);
}

void record(int ordinal, void* event, void* stream) {
  const Scope scope(ordinal);
  must_call("cuEventRecord", "hipEventRecord", event, stream);
}

void register_memory(void* memory, size_t size) {
  const Scope scope(0);
  must_call("cuMemHostRegister_v2", "hipHostRegister", memory, size, 0U);
}

void unregister_memory(void* memory) {
  const Scope scope(0);
  must_call("cuMemHostUnregister", "hipHostUnregister", memory);
}

void begin_capture(int ordinal, void* stream, CaptureMode mode) {
  const Scope scope(ordinal);
  must_call("cuStreamBeginCapture_v2", "hipStreamBeginCapture", stream, static_cast<unsigned>(mode));
}

bool end_capture(int ordinal, void* stream) {
  const Scope scope(ordinal);
  void* graph = nullptr;
  return call(is_cuda() ? "cuStreamEndCapture" : "hipStreamEndCapture", stream, &graph) == 0;
}

CaptureMode exchange_capture_mode(CaptureMode mode) {
  auto number = static_cast<unsigned>(mode);
  must_call("cuThreadExchangeStreamCaptureMode", "hipThreadExchangeStreamCaptureMode", &number);
  return static_cast<CaptureMode>(number);
}

}  // namespace drivers
