// SPDX-License-Identifier: Apache-2.0
// Level Zero as an application uses it beside the library, through the real loader. It also gives a test
// control of the stand-in that the loader has loaded.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "drivers/vendor.h"

namespace level_zero {

// The loader's functions under their own names. They are set when zeInit has succeeded.
struct Functions {
#define X(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#include "level_zero/symbols.inc"
#undef X
};
const Functions& ze();

// Throws if the result is not ZE_RESULT_SUCCESS.
void must(ze_result_t result);

// Return the drivers in the orders of the two functions. The second list is empty if the loader has no zeInitDrivers,
// or if the drivers are too old for it.
std::vector<ze_driver_handle_t> drivers_of_driver_get();
std::vector<ze_driver_handle_t> drivers_of_init_drivers();
std::vector<ze_device_handle_t> devices_of(ze_driver_handle_t driver);
// Return the loader's handles of the first driver in SYCL's order, and of its devices.
ze_driver_handle_t driver();
ze_device_handle_t device(uint32_t ordinal);

// Create objects of the application. The caller destroys them.
ze_context_handle_t create_context();
ze_command_list_handle_t create_list(ze_context_handle_t context, uint32_t ordinal, bool is_in_order);
ze_event_pool_handle_t create_pool(ze_context_handle_t context);
ze_event_handle_t create_event(ze_event_pool_handle_t pool, uint32_t index);
// Create an event that only the host signals, and signal it.
ze_event_handle_t create_host_event(ze_event_pool_handle_t pool, uint32_t index);
void signal(ze_event_handle_t event);
void* allocate(ze_context_handle_t context, uint32_t ordinal, size_t size);
void* allocate_host(ze_context_handle_t context, size_t size);
void append_copy(ze_command_list_handle_t list, void* to, const void* from, size_t size);
// Appends a barrier. It signals and waits for the events that are not NULL.
void append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal, ze_event_handle_t wait);
// Waits until all appended commands have finished.
void finish(ze_context_handle_t context, ze_command_list_handle_t list);

// The stand-in's control functions (see machine/control.h), for the first driver in the loader's list.
void fail_nth(const std::string& call, int64_t n, int code = 0);
void fail_no_more();
int64_t calls(const std::string& call);
void hold();
void resume();
int64_t live_allocations();
std::vector<std::string> entry_points();

}  // namespace level_zero
