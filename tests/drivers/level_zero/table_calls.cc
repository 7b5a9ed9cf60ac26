// SPDX-License-Identifier: Apache-2.0
#include "drivers/level_zero/table_calls.h"

#include <cstdlib>

#include "drivers/table.h"

namespace level_zero {

using drivers::must;
using drivers::table;

Variable::Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }

Variable::~Variable() { ::unsetenv(name_); }

void* gpu(int64_t id) { return drivers::open(ARROW_DEVICE_ONEAPI, id); }

void* create_queue(void* device) {
  void* queue = nullptr;
  must(table().queue_create, device, &queue);
  return queue;
}

void* wrap(void* device, ze_command_list_handle_t list) {
  arrowdevice_native_queue native{};
  native.struct_size = sizeof native;
  native.queue = list;
  void* queue = nullptr;
  must(table().queue_wrap, device, static_cast<const arrowdevice_native_queue*>(&native), &queue);
  return queue;
}

void* record(void* queue) {
  void* event = nullptr;
  must(table().event_record, queue, &event);
  return event;
}

void finish(void* queue) {
  void* const event = record(queue);
  must(table().event_wait, event, int64_t{-1});
  table().event_destroy(event);
}

void* allocate(void* device, int64_t size) {
  void* memory = nullptr;
  must(table().buffer_allocate, device, static_cast<void*>(nullptr), size, int64_t{64}, &memory);
  return memory;
}

void free_memory(void* device, void* memory) { table().buffer_deallocate(device, nullptr, memory); }

arrowdevice_backend_region region(void* to_device, void* to, void* from_device, const void* from, int64_t size) {
  return {to_device, to, 0, from_device, from, 0, size, 0};
}

void copy(void* queue, const arrowdevice_backend_region& one) { must(table().copy, queue, &one, int64_t{1}); }

void* adopt(int64_t id, ze_context_handle_t context, ze_device_handle_t device) {
  arrowdevice_native_device native{};
  native.struct_size = sizeof native;
  native.context = context;
  native.device = device;
  void* adopted = nullptr;
  must(table().device_adopt, ArrowDeviceType{ARROW_DEVICE_ONEAPI}, id,
       static_cast<const arrowdevice_native_device*>(&native), &adopted);
  return adopted;
}

void* locate(int64_t id, const void* buffer) {
  void* found = nullptr;
  must(table().locate, ArrowDeviceType{ARROW_DEVICE_ONEAPI}, id, buffer, static_cast<void*>(nullptr), &found);
  return found;
}

}  // namespace level_zero
