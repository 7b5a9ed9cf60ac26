// SPDX-License-Identifier: Apache-2.0
#include "drivers/level_zero/application.h"

#include <dlfcn.h>

#include "drivers/level_zero/handles.h"

// Turns the leak sanitizer off, because it sometimes crashes in forked children with threads. The stand-in
// checks leaks of driver objects. The same tests on the simulated device check leaks of the library.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace level_zero {
namespace {

void* open(const std::string& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(::dlerror());
  return handle;
}

void* find(void* library, const char* symbol) {
  void* const function = ::dlsym(library, symbol);
  if (function == nullptr) throw std::runtime_error(std::string("there is no ") + symbol);
  return function;
}

void* loader() {
  static void* const opened = open("libze_loader.so.1");
  return opened;
}

template <typename Function>
Function* control(const char* symbol) {
  static void* const standin = [] {
    const char* const paths = std::getenv("ZE_ENABLE_ALT_DRIVERS");
    if (paths == nullptr) throw std::runtime_error("ZE_ENABLE_ALT_DRIVERS is not set");
    const std::string all = paths;
    return open(all.substr(0, all.find(',')));
  }();
  return reinterpret_cast<Function*>(find(standin, symbol));
}

}  // namespace

const Functions& ze() {
  static const Functions* const found = [] {
    auto* const functions = new Functions;
#define X(name) functions->name = reinterpret_cast<decltype(functions->name)>(find(loader(), #name));
#include "level_zero/symbols.inc"
#undef X
    must(functions->zeInit(ZE_INIT_FLAG_GPU_ONLY));
    return functions;
  }();
  return *found;
}

void must(ze_result_t result) {
  if (result != ZE_RESULT_SUCCESS) throw std::runtime_error("Level Zero gave " + std::to_string(result));
}

std::vector<ze_driver_handle_t> drivers_of_driver_get() {
  uint32_t count = 0;
  must(ze().zeDriverGet(&count, nullptr));
  std::vector<ze_driver_handle_t> drivers(count);
  must(ze().zeDriverGet(&count, drivers.data()));
  return drivers;
}

std::vector<ze_driver_handle_t> drivers_of_init_drivers() {
  using namespace standin::level_zero;
  ze();
  const auto list = reinterpret_cast<decltype(&init_drivers)>(::dlsym(loader(), "zeInitDrivers"));
  if (list == nullptr) return {};
  InitDriverTypeDesc gpus{kInitDriverTypeDesc, nullptr, kInitGpu};
  uint32_t count = 0;
  if (list(&count, nullptr, &gpus) != ZE_RESULT_SUCCESS) return {};
  std::vector<ze_driver_handle_t> drivers(count);
  must(list(&count, drivers.data(), &gpus));
  return drivers;
}

ze_driver_handle_t driver() {
  const auto newer = drivers_of_init_drivers();
  return newer.empty() ? drivers_of_driver_get().at(0) : newer.at(0);
}

std::vector<ze_device_handle_t> devices_of(ze_driver_handle_t driver) {
  uint32_t count = 0;
  must(ze().zeDeviceGet(driver, &count, nullptr));
  std::vector<ze_device_handle_t> devices(count);
  must(ze().zeDeviceGet(driver, &count, devices.data()));
  return devices;
}

ze_device_handle_t device(uint32_t ordinal) { return devices_of(driver()).at(ordinal); }

ze_context_handle_t create_context() {
  ze_context_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  ze_context_handle_t context = nullptr;
  must(ze().zeContextCreate(driver(), &description, &context));
  return context;
}

ze_command_list_handle_t create_list(ze_context_handle_t context, uint32_t ordinal, bool is_in_order) {
  constexpr ze_command_queue_flags_t kInOrder = ZE_BIT(1);
  ze_command_queue_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  description.flags = is_in_order ? kInOrder : 0;
  description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_list_handle_t list = nullptr;
  must(ze().zeCommandListCreateImmediate(context, device(ordinal), &description, &list));
  return list;
}

ze_event_pool_handle_t create_pool(ze_context_handle_t context) {
  ze_event_pool_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  description.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  description.count = 4;
  ze_event_pool_handle_t pool = nullptr;
  must(ze().zeEventPoolCreate(context, &description, 0, nullptr, &pool));
  return pool;
}

namespace {

ze_event_handle_t create_event(ze_event_pool_handle_t pool, uint32_t index, ze_event_scope_flags_t signal) {
  ze_event_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  description.index = index;
  description.signal = signal;
  description.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t event = nullptr;
  must(ze().zeEventCreate(pool, &description, &event));
  return event;
}

}  // namespace

ze_event_handle_t create_event(ze_event_pool_handle_t pool, uint32_t index) {
  return create_event(pool, index, ZE_EVENT_SCOPE_FLAG_HOST);
}

ze_event_handle_t create_host_event(ze_event_pool_handle_t pool, uint32_t index) {
  return create_event(pool, index, 0);
}

void signal(ze_event_handle_t event) {
  must(reinterpret_cast<decltype(&::zeEventHostSignal)>(find(loader(), "zeEventHostSignal"))(event));
}

void* allocate(ze_context_handle_t context, uint32_t ordinal, size_t size) {
  ze_device_mem_alloc_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  void* memory = nullptr;
  must(ze().zeMemAllocDevice(context, &description, size, 64, device(ordinal), &memory));
  return memory;
}

void* allocate_host(ze_context_handle_t context, size_t size) {
  ze_host_mem_alloc_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  void* memory = nullptr;
  must(ze().zeMemAllocHost(context, &description, size, 64, &memory));
  return memory;
}

void append_copy(ze_command_list_handle_t list, void* to, const void* from, size_t size) {
  must(ze().zeCommandListAppendMemoryCopy(list, to, from, size, nullptr, 0, nullptr));
}

void append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal, ze_event_handle_t wait) {
  must(ze().zeCommandListAppendBarrier(list, signal, wait != nullptr ? 1 : 0, wait != nullptr ? &wait : nullptr));
}

void finish(ze_context_handle_t context, ze_command_list_handle_t list) {
  auto* const pool = create_pool(context);
  auto* const event = create_event(pool, 0);
  append_barrier(list, event, nullptr);
  must(ze().zeEventHostSynchronize(event, UINT64_MAX));
  must(ze().zeEventDestroy(event));
  must(ze().zeEventPoolDestroy(pool));
}

void fail_nth(const std::string& call, int64_t n, int code) {
  control<void(const char*, int64_t, int)>("standin_fail_nth")(call.c_str(), n, code);
}

void fail_no_more() { control<void()>("standin_fail_no_more")(); }

int64_t calls(const std::string& call) { return control<int64_t(const char*)>("standin_calls")(call.c_str()); }

void hold() { control<void()>("standin_hold")(); }

void resume() { control<void()>("standin_resume")(); }

int64_t live_allocations() {
  int64_t allocations = 0, streams = 0, events = 0;
  control<void(int64_t*, int64_t*, int64_t*)>("standin_live")(&allocations, &streams, &events);
  return allocations;
}

std::vector<std::string> entry_points() {
  auto* const entry = control<const char*(int64_t)>("standin_entry_point");
  std::vector<std::string> names;
  for (int64_t i = 0; const char* name = entry(i); ++i) names.emplace_back(name);
  return names;
}

}  // namespace level_zero
