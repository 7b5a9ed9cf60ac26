// SPDX-License-Identifier: Apache-2.0
// The backend's table, call by call, each of which must succeed.
#pragma once

#include <arrowdevice/backend.h>
#include <level_zero/ze_api.h>

#include <cstdint>

namespace level_zero {

// An environment variable for the length of a scope.
class Variable {
 public:
  Variable(const char* name, const char* value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

// Work is pending for so long at least, as a variable of the stand-in says it.
inline constexpr const char* kSlow = "20000";  // microseconds

void* gpu(int64_t id);
void* adopt(int64_t id, ze_context_handle_t context, ze_device_handle_t device);
void* locate(int64_t id, const void* buffer);

void* create_queue(void* device);
void* wrap(void* device, ze_command_list_handle_t list);
void finish(void* queue);

void* record(void* queue);

void* allocate(void* device, int64_t size);
void free_memory(void* device, void* memory);

arrowdevice_backend_region region(void* to_device, void* to, void* from_device, const void* from, int64_t size);
void copy(void* queue, const arrowdevice_backend_region& one);

}  // namespace level_zero
