/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_BACKEND_REGISTRY_H
#define ARROWDEVICE_BACKEND_REGISTRY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arrowdevice_backend_report {
  uint32_t struct_size;
  int32_t status;
  char name[16];
  char path[1024];
  char reason[488];
};

ARROWDEVICE_API int arrowdevice_backend_load(const char* absolute_path, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_backend_register(const struct arrowdevice_backend* table,
                                                 struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_backend_get_report(int64_t index, struct arrowdevice_backend_report* out,
                                                   struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
