// SPDX-License-Identifier: Apache-2.0
#include "drivers/table.h"

#include <dlfcn.h>

#include <mutex>
#include <set>

namespace drivers {
namespace {

constexpr int64_t kAlignment = 64;

std::mutex opened_mutex;
std::set<void*> opened;

}  // namespace

const arrowdevice_backend& table() {
  static const arrowdevice_backend* const found = [] {
    const char* path = std::getenv("STANDIN_PLUGIN");
    void* const plugin = path != nullptr ? ::dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    void* const entry = plugin != nullptr ? ::dlsym(plugin, ARROWDEVICE_BACKEND_ENTRY) : nullptr;
    if (entry == nullptr) throw std::runtime_error("STANDIN_PLUGIN names no plugin");
    arrowdevice_error error{};
    const auto* const made =
        reinterpret_cast<arrowdevice_backend_entry_function>(entry)(ARROWDEVICE_BACKEND_ABI_VERSION, &error);
    if (made == nullptr) throw std::runtime_error(error.message);
    return made;
  }();
  return *found;
}

void* open(ArrowDeviceType type, int64_t id) {
  void* const device = output_of(table().device_open, type, id);
  const std::lock_guard lock(opened_mutex);
  opened.insert(device);
  return device;
}

void trim() {
  const std::lock_guard lock(opened_mutex);
  for (void* const device : opened) table().device_trim(device);
}

void* wrap(ArrowDeviceType type, int64_t id, const arrowdevice_native_device& native) {
  return output_of(table().device_wrap, type, id, &native);
}

void* locate(ArrowDeviceType type, int64_t id, const void* buffer) {
  return output_of(table().device_locate, type, id, buffer, nullptr);
}

void* create_queue(void* device) { return output_of(table().queue_create, device); }

void* wrap(void* device, void* native_queue) {
  auto native = sized<arrowdevice_native_queue>();
  native.queue = native_queue;
  return output_of(table().queue_wrap, device, &native);
}

void* record(void* queue) { return output_of(table().event_record, queue); }

void finish(void* queue) {
  void* const event = record(queue);
  must(table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
  table().event_destroy(event);
}

void* allocate(void* device, int64_t size) {
  return output_of(table().buffer_allocate, device, nullptr, size, kAlignment);
}

void free_memory(void* device, void* memory) { table().buffer_free(device, nullptr, memory); }

arrowdevice_backend_region region(void* to_device, void* to, void* from_device, const void* from, int64_t size) {
  return {to_device, to, 0, from_device, from, 0, size, 0};
}

void copy(void* queue, const arrowdevice_backend_region& one) { must(table().queue_copy, queue, &one, 1); }

// Copies within the memory, because the driver may wait for copies of the program's memory.
Pending::Pending(void* device, int64_t size) : device_(device), queue_(create_queue(device)) {
  must(table().buffer_allocate, device, queue_, size, kAlignment, &memory_);
  copy(queue_, region(device, static_cast<char*>(memory_) + size / 2, device, memory_, size / 2));
}

Pending::Pending(void* device, void* source_device, const void* source)
    : device_(device), queue_(create_queue(device)) {
  constexpr int64_t kSize = 64;
  must(table().buffer_allocate, device, queue_, kSize, kAlignment, &memory_);
  copy(queue_, region(device, memory_, source_device, source, kSize));
}

void Pending::free_behind() {
  table().buffer_free(device_, queue_, memory_);
  memory_ = nullptr;
}

Pending::~Pending() {
  finish();
  if (memory_ != nullptr) table().buffer_free(device_, nullptr, memory_);
  table().queue_destroy(queue_);
}

}  // namespace drivers
