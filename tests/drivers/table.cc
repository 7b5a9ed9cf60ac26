// SPDX-License-Identifier: Apache-2.0
#include "drivers/table.h"

#include <dlfcn.h>

#include <cstdlib>

namespace drivers {

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
  void* device = nullptr;
  must(table().device_open, type, id, &device);
  return device;
}

Pending::Pending(void* device, int64_t size) : device_(device), source_(static_cast<size_t>(size), 'x') {
  constexpr int64_t kAlignment = 64;
  must(table().queue_create, device, &queue_);
  must(table().buffer_allocate, device, queue_, size, kAlignment, &memory_);
  const arrowdevice_backend_region region{.to_device = device,
                                          .dst = memory_,
                                          .dst_offset = 0,
                                          .from_device = nullptr,
                                          .src = source_.data(),
                                          .src_offset = 0,
                                          .size = size,
                                          .reserved = 0};
  must(table().copy, queue_, &region, int64_t{1});
}

void Pending::finish() {
  void* event = nullptr;
  must(table().event_record, queue_, &event);
  must(table().event_wait, event, int64_t{-1});
  table().event_destroy(event);
}

void Pending::free_behind() {
  table().buffer_deallocate(device_, queue_, memory_);
  memory_ = nullptr;
}

Pending::~Pending() {
  finish();
  if (memory_ != nullptr) table().buffer_deallocate(device_, nullptr, memory_);
  table().queue_destroy(queue_);
}

}  // namespace drivers
