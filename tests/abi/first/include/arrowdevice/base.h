/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_BASE_H
#define ARROWDEVICE_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"

#ifdef __cplusplus
static_assert(sizeof(void*) == 8, "libarrowdevice is for 64-bit platforms");
extern "C" {
#else
_Static_assert(sizeof(void*) == 8, "libarrowdevice is for 64-bit platforms");
#endif

#if defined(__GNUC__)
#define ARROWDEVICE_API __attribute__((visibility("default")))
#else
#define ARROWDEVICE_API
#endif

#define ARROWDEVICE_VERSION_MAJOR 0
#define ARROWDEVICE_VERSION_MINOR 1
#define ARROWDEVICE_VERSION_PATCH 0

#define ARROWDEVICE_NO_TIMEOUT 0
#define ARROWDEVICE_POLL (-1)

struct arrowdevice_error {
  int32_t code;
  int32_t native_code;
  char backend[16];
  char message[488];
};

struct arrowdevice_device;
struct arrowdevice_queue;
struct arrowdevice_pool;
struct arrowdevice_view;
struct arrowdevice_backend;
struct DLManagedTensorVersioned;

ARROWDEVICE_API const char* arrowdevice_version(void);

ARROWDEVICE_API void arrowdevice_log_set_handler(void (*log)(void* user, int level, const char* message), void* user);

ARROWDEVICE_API void arrowdevice_interrupt_set_check(int (*check)(void* user), void* user);

ARROWDEVICE_API int arrowdevice_deferred_set_manual(int on, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_deferred_run(int64_t max, int64_t* done, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_wait_idle(int64_t timeout_ns, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
