// SPDX-License-Identifier: Apache-2.0
// The table of the backend under test, which the library loads from the plugin at STANDIN_PLUGIN.
#pragma once

#include <arrowdevice/backend.h>

#include <stdexcept>
#include <string>

#include "drivers/vendor.h"

namespace drivers {

const arrowdevice_backend& table();

// Call the table's functions. Each call must succeed.
void* open(ArrowDeviceType type, int64_t id);
// Makes the backend give back what it keeps for reuse, on all devices that open() returned.
void trim();
void* wrap(ArrowDeviceType type, int64_t id, const arrowdevice_native_device& native);
void* locate(ArrowDeviceType type, int64_t id, const void* buffer);

void* create_queue(void* device);
void* wrap(void* device, void* native_queue);
// Record an event behind the queue's work, and wait for that work.
void* record(void* queue);
void finish(void* queue);

void* allocate(void* device, int64_t size);
void free_memory(void* device, void* memory);

arrowdevice_backend_region region(void* to_device, void* to, void* from_device, const void* from, int64_t size);
void copy(void* queue, const arrowdevice_backend_region& one);

// Runs a test in a process of its own, at whose end the backend keeps nothing for reuse.
template <typename Body>
std::string in_own_process(Body&& body, std::string* output = nullptr) {
  return in_child(
      [&] {
        body();
        trim();
      },
      output);
}

// A queue and memory with a copy that stays pending for a while.
class Pending {
 public:
  explicit Pending(void* device, int64_t size = 1 << 20);
  // Copies 64 bytes from memory of another device. Drivers do not return before copies within host memory have
  // finished.
  Pending(void* device, void* source_device, const void* source);
  ~Pending();
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  void* queue() const { return queue_; }
  void* memory() const { return memory_; }
  void finish() { drivers::finish(queue_); }
  // Frees the memory behind the copy.
  void free_behind();

 private:
  void* const device_;
  void* const queue_;
  void* memory_ = nullptr;
};

}  // namespace drivers
