/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_VIEW_H
#define ARROWDEVICE_VIEW_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARROWDEVICE_IMPORT_RESOLVE_SIZES 1

#define ARROWDEVICE_ROLE_VALIDITY 1
#define ARROWDEVICE_ROLE_DATA 2
#define ARROWDEVICE_ROLE_OFFSETS 3
#define ARROWDEVICE_ROLE_SIZES 4
#define ARROWDEVICE_ROLE_TYPE_IDS 5
#define ARROWDEVICE_ROLE_VIEWS 6
#define ARROWDEVICE_ROLE_VARIADIC 7
#define ARROWDEVICE_ROLE_VARIADIC_SIZES 8

#define ARROWDEVICE_BUFFER_SIZE_KNOWN 1
#define ARROWDEVICE_BUFFER_HOST 2

#define ARROWDEVICE_LAYOUT_NULL 0
#define ARROWDEVICE_LAYOUT_FIXED 1
#define ARROWDEVICE_LAYOUT_BINARY 2
#define ARROWDEVICE_LAYOUT_LARGE_BINARY 3
#define ARROWDEVICE_LAYOUT_BINARY_VIEW 4
#define ARROWDEVICE_LAYOUT_LIST 5
#define ARROWDEVICE_LAYOUT_LARGE_LIST 6
#define ARROWDEVICE_LAYOUT_LIST_VIEW 7
#define ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW 8
#define ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST 9
#define ARROWDEVICE_LAYOUT_STRUCT 10
#define ARROWDEVICE_LAYOUT_SPARSE_UNION 11
#define ARROWDEVICE_LAYOUT_DENSE_UNION 12
#define ARROWDEVICE_LAYOUT_RUN_END_ENCODED 13

struct arrowdevice_import_options {
  uint32_t struct_size;

  uint32_t flags;

  struct arrowdevice_queue* queue;

  struct arrowdevice_device* source_device;
  int32_t validate;
  int32_t reserved;

  int64_t timeout_ns;
};

struct arrowdevice_node_buffer {
  const void* data;
  int64_t size;
  uint32_t role;
  uint32_t flags;
  uint64_t reserved;
};

struct arrowdevice_node {
  const char *name, *format, *metadata, *extension_name, *extension_metadata;
  int64_t extension_metadata_size;
  int64_t length, offset, null_count, flags;
  int32_t layout, n_buffers;
  int64_t n_children;
  int64_t bit_width;
  int64_t list_size;
  const struct arrowdevice_node_buffer* buffers;
  const struct arrowdevice_node* const* children;
  const struct arrowdevice_node* dictionary;
  const struct ArrowArray* array;
  uint64_t reserved[4];
};

ARROWDEVICE_API int arrowdevice_array_import(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                             const struct arrowdevice_import_options* options,
                                             struct arrowdevice_view** out, struct arrowdevice_error* error);

ARROWDEVICE_API const struct arrowdevice_node* arrowdevice_view_get_root(const struct arrowdevice_view* view);

ARROWDEVICE_API const struct ArrowDeviceArray* arrowdevice_view_get_array(const struct arrowdevice_view* view);

ARROWDEVICE_API struct arrowdevice_device* arrowdevice_view_get_device(const struct arrowdevice_view* view);

ARROWDEVICE_API int arrowdevice_view_share(const struct arrowdevice_view* view, struct ArrowDeviceArray* out,
                                           struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_view_detach(struct arrowdevice_view* view, struct ArrowDeviceArray* out);

ARROWDEVICE_API void arrowdevice_view_release(struct arrowdevice_view* view);

ARROWDEVICE_API int arrowdevice_view_release_after(struct arrowdevice_view* moved, struct arrowdevice_queue* queue,
                                                   struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
