// SPDX-License-Identifier: Apache-2.0
#include "faults/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "drivers/machine/control.h"
#include "faults/scene.h"
#include "support/in_child.h"

namespace faults::driver {
namespace {

struct Vendor {
  const char* name;
  ArrowDeviceType addresses, handles;  // the types of devices with such buffers, or 0
  const char* copy;                    // a call that each copy from a device makes
  ArrowDeviceType shareable;           // the type whose memory other processes can open
};

// Pinned memory takes the place of handles, so that operations between two types of devices use it.
constexpr Vendor kVendors[] = {
    {"cuda", ARROW_DEVICE_CUDA, ARROW_DEVICE_CUDA_HOST, "cuMemcpyAsync", ARROW_DEVICE_CUDA},
    {"hip", ARROW_DEVICE_ROCM, ARROW_DEVICE_ROCM_HOST, "hipMemcpyAsync", ARROW_DEVICE_ROCM},
    {"level_zero", ARROW_DEVICE_ONEAPI, 0, "zeCommandListAppendMemoryCopy", ARROW_DEVICE_ONEAPI},
    {"opencl", 0, ARROW_DEVICE_OPENCL, "clFlush", ARROW_DEVICE_OPENCL},
    {"vulkan", 0, ARROW_DEVICE_VULKAN, "vkQueueSubmit", ARROW_DEVICE_VULKAN},
};

// The functions whose work is that of a backend. The rest of the library does the same on all devices.
constexpr std::string_view kFunctions[] = {
    "array_copy",          "array_export",         "array_import",         "array_release",
    "array_release_after", "array_to_host",        "array_to_device",      "array_wait",
    "buffer_allocate",     "buffer_free",          "pool_create",          "pool_destroy",
    "pool_trim",           "queue_copy",           "queue_create",         "queue_destroy",
    "queue_finish",        "queue_wait_array",     "sub_buffer_create",    "view_release_after",
    "array_is_ready",      "array_get_ipc_handle", "array_open_ipc_handle"};

// Variants that need the simulation, and variants with the same calls as another.
constexpr const char* kLeftOut[] = {"with another device", "of a pending copy", "validated", "whole"};

// Parts of the names of calls without which an operation may succeed: calls that free, calls that restore the state of
// the thread, and questions. A question about work that fails tells nothing, so the library asks again.
constexpr const char* kSurvived[] = {
    "Free",           "Destroy",        "Release",         "PushCurrent",   "PopCurrent",
    "CaptureMode",    "hipGetDevice",   "hipSetDevice",    "MemGetInfo",    "Query",
    "clGetEventInfo", "EventHostReset", "GetAddressRange", "CounterValue",  "FenceStatus",
    "WaitSemaphores", "MemcpyBatch",    "PoolTrim",        "PoolSetAccess", "clSetUserEvent",
    "GetPCIBusId"};

// The same for an allocation for a queue. Without an event, the library waits until the queue is idle.
constexpr const char* kSurvivedForQueue[] = {"EventCreate", "EventRecord"};

// The same for copies to the CPU, which pass through pinned memory if the driver has some and the target is not pinned.
constexpr const char* kSurvivedToCpu[] = {"HostAlloc", "HostMalloc", "PointerGetAttribute", "zeMemAllocHost",
                                          "zeMemGetAllocProperties"};

const Vendor& vendor() {
  static const Vendor* const chosen = std::ranges::find_if(
      kVendors, [](const Vendor& one) { return std::string_view(one.name) == std::getenv("FAULTS_DRIVER"); });
  if (chosen == std::end(kVendors)) fail("FAULTS_DRIVER names no backend of this test");
  return *chosen;
}

template <typename Function>
Function* control(const char* symbol) {
  static void* const library = dlopen(std::getenv("FAULTS_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  void* const function = library != nullptr ? dlsym(library, symbol) : nullptr;
  if (function == nullptr) fail(std::string("no control of the driver: ") + dlerror());
  return reinterpret_cast<Function*>(function);
}
#define CONTROL(function) control<decltype(function)>(#function)

ArrowDeviceType type_of(int64_t id) { return id < kHandles[0] ? vendor().addresses : vendor().handles; }

// Returns an array on the device that lives as long as the process.
const ArrowDeviceArray* array_on(int64_t id) {
  static std::array<Array, kDevices> arrays;
  Array& array = arrays[static_cast<size_t>(id)];
  if (array.released()) array = copy(*Rows::flat().host(), *Rows::flat().schema(), device(id), ARROWDEVICE_COPY_ASYNC);
  return array.get();
}

}  // namespace

bool is_used() {
  static const bool is = std::getenv("FAULTS_DRIVER") != nullptr;
  return is;
}

void set_up() {
  log_to_test();
  for (const int64_t id : devices()) {
    array_on(id);
    // The backend keeps what these calls need, such as staging memory and objects of queues.
    Array copied = copy(*Rows::nested().on(id), *Rows::nested().schema(), device(id), ARROWDEVICE_COPY_ASYNC);
    auto info = sized<arrowdevice_device_info>();
    must(arrowdevice_device_get_info, device(id), &info);
    if ((info.flags & ARROWDEVICE_DEVICE_SHAREABLE) == 0) continue;
    arrowdevice_ipc_handle handle{};
    must(arrowdevice_array_get_ipc_handle, copied.get(), Rows::nested().schema(),
         static_cast<const arrowdevice_copy_options*>(nullptr), &handle);
    arrowdevice_ipc_handle_release(&handle);
  }
}

bool can_play(const Operation& operation) {
  const auto has = [name = operation.name()](const char* part) { return contains(name, part); };
  const Machine& machine = operation.machine;
  const bool has_plain_machine = machine.peers == arrowdevice::sim::Peers::kCopy && machine.latency_us == 0 &&
                                 machine.is_registered && !machine.has_pinned && !machine.has_plugin;
  if (!has_plain_machine || operation.at_first_use) return false;
  if (std::ranges::find(kFunctions, operation.function) == std::end(kFunctions)) return false;
  if (std::ranges::any_of(kLeftOut, has)) return false;
  const ArrowDeviceType used = has("addresses") ? vendor().addresses : vendor().handles;
  if (has("ipc_handle") && used != vendor().shareable) return false;
  if (has("array_to_device") && !has("the CPU")) return false;  // like array_copy
  if (has(", async") && (has("array_to_device") || has("the same"))) return false;
  if (!has("addresses") && !has("handles")) return false;
  return (vendor().addresses != 0 || !has("addresses")) && (vendor().handles != 0 || !has("handles"));
}

const std::vector<int64_t>& devices() {
  static const std::vector<int64_t> all = [] {
    std::vector<int64_t> ids;
    for (int64_t id = 0; id < kDevices; ++id) {
      if (type_of(id) != 0) ids.push_back(id);
    }
    return ids;
  }();
  return all;
}

arrowdevice_device* device(int64_t id) {
  const ArrowDeviceType type = type_of(id);
  const bool is_one = type == ARROW_DEVICE_CUDA_HOST || type == ARROW_DEVICE_ROCM_HOST;
  return output_of(arrowdevice_device_find_by_id, type, is_one ? int64_t{0} : id % 2);
}

const std::vector<std::string>& calls() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (int64_t i = 0; const char* name = CONTROL(standin_entry_point)(i); ++i) names.emplace_back(name);
    return names;
  }();
  return all;
}

int64_t count(const std::string& call) { return CONTROL(standin_calls)(call.c_str()); }
int64_t failures() { return CONTROL(standin_failed)(); }
void fail_nth(const std::string& call, int64_t n) { CONTROL(standin_fail_nth)(call.c_str(), n, 0); }
void fail_no_more() { CONTROL(standin_fail_no_more)(); }

void drop_idle_queues() {
  for (const int64_t id : devices()) {
    Array out;
    fail_nth(vendor().copy, 1);
    arrowdevice_array_copy(array_on(id), Rows::flat().schema(), cpu(), nullptr, out.get(), nullptr);
    fail_no_more();
  }
}

std::vector<int64_t> alive() {
  int64_t allocations = 0;
  int64_t queues = 0;
  int64_t events = 0;
  CONTROL(standin_live)(&allocations, &queues, &events);
  return {allocations, 0, events, queues};
}

bool may_survive(const Operation& operation, const std::string& call) {
  const bool survives_more =
      std::ranges::any_of(operation.may_survive, [](const std::string& one) { return one != "event_query"; });
  const auto is_in_call = [&](const char* part) { return contains(call, part); };
  const bool is_to_cpu = contains(operation.name(), "to the CPU");
  if (is_to_cpu && std::ranges::any_of(kSurvivedToCpu, is_in_call)) return true;
  const bool is_for_queue = operation.function == "buffer_allocate" && contains(operation.name(), "for a queue");
  if (is_for_queue && std::ranges::any_of(kSurvivedForQueue, is_in_call)) return true;
  // Trimming logs what the driver does not give back.
  if (operation.function == "pool_trim" && contains(call, "StreamSynchronize")) return true;
  const bool has_no_code = contains(operation.function, "release") || contains(operation.function, "destroy");
  return survives_more || has_no_code || std::ranges::any_of(kSurvived, is_in_call);
}

bool is_told(const std::string& call, int code, const arrowdevice_error& error) {
  constexpr int kCodes[] = {EIO, ENOMEM, EBUSY, ENODEV};
  return std::ranges::find(kCodes, code) != std::end(kCodes) && error.native_code != 0 &&
         std::string_view(error.message).starts_with(call + ": ");
}

}  // namespace faults::driver
