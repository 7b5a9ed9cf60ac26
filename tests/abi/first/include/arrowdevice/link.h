/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_LINK_H
#define ARROWDEVICE_LINK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arrowdevice_server;

#define ARROWDEVICE_LINK_ANY_USER 1
#define ARROWDEVICE_LINK_ISOLATED 2

struct arrowdevice_server_options {
  uint32_t struct_size;
  uint32_t flags;

  uint32_t copy_flags;
  int32_t max_clients;

  int64_t max_client_bytes;
};

struct arrowdevice_connect_options {
  uint32_t struct_size;
  uint32_t flags;

  uint32_t copy_flags;
  int32_t max_batches;
  int64_t max_bytes;

  int64_t timeout_ns;
};

struct arrowdevice_server_stats {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t clients;
  int64_t batches;
  int64_t bytes;
  int64_t copied_bytes;
};

typedef int (*arrowdevice_open_stream)(void* user, struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_server_create(const char* uri, const struct arrowdevice_server_options* options,
                                              struct arrowdevice_server** out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_server_add_stream(struct arrowdevice_server* server, const char* name,
                                                  struct ArrowDeviceArrayStream* moved,
                                                  struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_server_add_arrays(struct arrowdevice_server* server, const char* name,
                                                  const struct ArrowSchema* schema, struct ArrowDeviceArray* inout,
                                                  int64_t n, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_server_add_source(struct arrowdevice_server* server, const char* name,
                                                  arrowdevice_open_stream open, void* user,
                                                  void (*user_release)(void* user), struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_server_remove(struct arrowdevice_server* server, const char* name,
                                              struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_server_get_stats(const struct arrowdevice_server* server,
                                                 struct arrowdevice_server_stats* out, struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_server_destroy(struct arrowdevice_server* server);

ARROWDEVICE_API int arrowdevice_stream_connect(const char* uri, struct arrowdevice_device* to,
                                               const struct arrowdevice_connect_options* options,
                                               struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
