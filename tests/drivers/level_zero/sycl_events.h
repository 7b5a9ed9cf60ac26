// SPDX-License-Identifier: Apache-2.0
// Functions that our libsycl.so adds to those of sycl::event: events that finish when a thread waits for
// them.
#pragma once

#include <cstdint>

extern "C" {

// Creates an event whose wait() runs `work`. If `failure` is not 0, wait() throws instead: 1 a
// std::exception, 2 another type.
void* sycl_event_create(void (*work)(void*), void* argument, int32_t failure);
// Finishes the event's work without a wait.
void sycl_event_complete(void* event);
int64_t sycl_event_waits(const void* event);
void sycl_event_destroy(void* event);
}
