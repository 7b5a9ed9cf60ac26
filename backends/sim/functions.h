// SPDX-License-Identifier: Apache-2.0
// The functions of the backend table by name, in the table's order. The environment and tests can remove them, count
// them and make them fail.
#pragma once

#include <optional>
#include <string_view>

namespace arrowdevice::sim {

// X(name, pair): `pair` is the function that is removed together with `name`, or `name` itself.
#define ARROWDEVICE_SIM_REQUIRED_FUNCTIONS(X) \
  X(device_count, device_count)               \
  X(device_open, device_open)                 \
  X(device_get_info, device_get_info)         \
  X(buffer_allocate, buffer_allocate)         \
  X(buffer_free, buffer_free)                 \
  X(queue_create, queue_create)               \
  X(queue_destroy, queue_destroy)             \
  X(queue_copy, queue_copy)                   \
  X(event_record, event_record)               \
  X(event_query, event_query)                 \
  X(event_wait, event_wait)                   \
  X(queue_wait_event, queue_wait_event)       \
  X(event_destroy, event_destroy)

#define ARROWDEVICE_SIM_OPTIONAL_FUNCTIONS(X)       \
  X(event_publish, event_publish)                   \
  X(event_import, event_import)                     \
  X(sub_buffer_create, sub_buffer_destroy)          \
  X(sub_buffer_destroy, sub_buffer_create)          \
  X(queue_wrap, queue_get_native)                   \
  X(queue_get_native, queue_wrap)                   \
  X(device_wrap, device_unwrap)                     \
  X(device_unwrap, device_wrap)                     \
  X(device_get_native, device_get_native)           \
  X(device_get_peer_flags, device_get_peer_flags)   \
  X(device_locate, device_locate)                   \
  X(pointer_get_info, pointer_get_info)             \
  X(device_get_memory_info, device_get_memory_info) \
  X(shareable_allocate, shareable_free)             \
  X(shareable_free, shareable_allocate)             \
  X(memory_export, shareable_allocate)              \
  X(memory_import, memory_close)                    \
  X(memory_close, memory_import)

// Enumerators have the names of the table's functions. The last two are not functions, but can also fail: a recorded
// event, and the device of a submission.
enum class Function {
// clang-format off
#define X(name, pair) name,
  ARROWDEVICE_SIM_REQUIRED_FUNCTIONS(X)
  ARROWDEVICE_SIM_OPTIONAL_FUNCTIONS(X)
#undef X
  event,
  lost,
};
// clang-format on

inline constexpr int kFunctions = static_cast<int>(Function::lost) + 1;

std::string_view name_of(Function function);
std::optional<Function> function_named(std::string_view name);

// Returns true if the table may lack the function.
bool is_optional(Function function);

// Returns true if the function can report a failure.
bool can_fail(Function function);

}  // namespace arrowdevice::sim
