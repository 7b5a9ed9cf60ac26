/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_IPC_H
#define ARROWDEVICE_IPC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arrowdevice_copy_options;

struct arrowdevice_ipc_handle {
  const uint8_t* bytes;
  int64_t size;
  const int* descriptors;
  int32_t n_descriptors;
  int32_t reserved;
  int64_t copied_bytes;

  void (*release)(struct arrowdevice_ipc_handle* handle);
  void* private_data;
};

ARROWDEVICE_API int arrowdevice_array_get_ipc_handle(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                                     const struct arrowdevice_copy_options* options,
                                                     struct arrowdevice_ipc_handle* out,
                                                     struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_ipc_handle_release(struct arrowdevice_ipc_handle* handle);

ARROWDEVICE_API int arrowdevice_array_open_ipc_handle(const uint8_t* bytes, int64_t size, const int* descriptors,
                                                      int64_t n_descriptors,
                                                      const struct arrowdevice_copy_options* options,
                                                      struct ArrowDeviceArray* out, struct ArrowSchema* out_schema,
                                                      struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
