// SPDX-License-Identifier: Apache-2.0
// What our libsycl.so offers a test beside the functions of sycl::event: events that are over once somebody waits.
#pragma once

#include <cstdint>

extern "C" {

// What happens in wait(): `work` runs, unless `failure` says that something is thrown, 1 a std::exception, 2 something
// else.
void* sycl_event_create(void (*work)(void*), void* argument, int32_t failure);
// Its work is done, without anybody waiting.
void sycl_event_complete(void* event);
int64_t sycl_event_waits(const void* event);
void sycl_event_destroy(void* event);
}
