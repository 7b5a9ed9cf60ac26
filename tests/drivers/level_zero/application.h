// SPDX-License-Identifier: Apache-2.0
// Level Zero as an application beside the library uses it, through the real loader; and the stand-in that the loader
// has loaded, in the hands of a test.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "drivers/vendor.h"

namespace level_zero {

// The loader's functions under their own names, once zeInit has succeeded.
struct Functions {
#define X(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#include "level_zero/symbols.inc"
#undef X
};
const Functions& ze();

// Throws unless it is ZE_RESULT_SUCCESS.
void must(ze_result_t result);

// The handles that the loader gives out, of the first driver.
ze_driver_handle_t driver();
ze_device_handle_t device(uint32_t ordinal);

// Objects of the application. Nothing gives them back by itself.
ze_context_handle_t create_context();
ze_command_list_handle_t create_list(ze_context_handle_t context, uint32_t ordinal, bool is_in_order);
ze_event_pool_handle_t create_pool(ze_context_handle_t context);
ze_event_handle_t create_event(ze_event_pool_handle_t pool, uint32_t index);
void* allocate(ze_context_handle_t context, uint32_t ordinal, size_t size);
void* allocate_host(ze_context_handle_t context, size_t size);
void append_copy(ze_command_list_handle_t list, void* to, const void* from, size_t size);
// Signals and waits where they are not NULL.
void append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal, ze_event_handle_t wait);
// Until all that was appended is over.
void finish(ze_context_handle_t context, ze_command_list_handle_t list);

// The stand-in's own functions, see machine/control.h: of the first driver that the loader was told of.
void fail_nth(const std::string& call, int64_t n, int code = 0);
void fail_no_more();
int64_t calls(const std::string& call);
int64_t live_allocations();
std::vector<std::string> entry_points();

}  // namespace level_zero
