/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file view.h
 * Views: import a foreign array, check it against its schema, and see its typed buffers.
 */
#ifndef ARROWDEVICE_VIEW_H
#define ARROWDEVICE_VIEW_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of arrowdevice_import_options */
#define ARROWDEVICE_IMPORT_RESOLVE_SIZES 1 /* reads the sizes of buffers that only the device knows */

/* Roles of an array's buffers */
#define ARROWDEVICE_ROLE_VALIDITY 1
#define ARROWDEVICE_ROLE_DATA 2
#define ARROWDEVICE_ROLE_OFFSETS 3
#define ARROWDEVICE_ROLE_SIZES 4
#define ARROWDEVICE_ROLE_TYPE_IDS 5
#define ARROWDEVICE_ROLE_VIEWS 6
#define ARROWDEVICE_ROLE_VARIADIC 7
#define ARROWDEVICE_ROLE_VARIADIC_SIZES 8

/* Flags of arrowdevice_node_buffer */
#define ARROWDEVICE_BUFFER_SIZE_KNOWN 1 /* `size` is known; without the flag it is 0 */
#define ARROWDEVICE_BUFFER_HOST 2       /* the buffer is in host memory */

/* Layouts of arrays */
#define ARROWDEVICE_LAYOUT_NULL 0
#define ARROWDEVICE_LAYOUT_FIXED 1 /* includes booleans (bit_width 1) and dictionary indices */
#define ARROWDEVICE_LAYOUT_BINARY 2
#define ARROWDEVICE_LAYOUT_LARGE_BINARY 3
#define ARROWDEVICE_LAYOUT_BINARY_VIEW 4
#define ARROWDEVICE_LAYOUT_LIST 5 /* includes maps */
#define ARROWDEVICE_LAYOUT_LARGE_LIST 6
#define ARROWDEVICE_LAYOUT_LIST_VIEW 7
#define ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW 8
#define ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST 9
#define ARROWDEVICE_LAYOUT_STRUCT 10
#define ARROWDEVICE_LAYOUT_SPARSE_UNION 11
#define ARROWDEVICE_LAYOUT_DENSE_UNION 12
#define ARROWDEVICE_LAYOUT_RUN_END_ENCODED 13

/** Options of arrowdevice_array_import(). */
struct arrowdevice_import_options {
  uint32_t struct_size;
  /**
   * ARROWDEVICE_IMPORT_RESOLVE_SIZES: the call waits for the array's event. It then reads from the
   * device the values that give the sizes of buffers, such as last offsets.
   */
  uint32_t flags;
  /**
   * Queue that waits for the array's event. If it is NULL, no queue waits, and the application
   * calls arrowdevice_array_wait() or arrowdevice_queue_wait_array() before it uses the data.
   */
  struct arrowdevice_queue* queue;
  /** Device of the array, or NULL to find it from the array. */
  struct arrowdevice_device* source_device;
  int32_t validate; /* a level, ARROWDEVICE_VALIDATE_* of array.h */
  int32_t reserved;
  /**
   * Time-out in nanoseconds for all waits of the CPU. ARROWDEVICE_NO_TIMEOUT (0) waits without
   * limit.
   */
  int64_t timeout_ns;
};

/**
 * One buffer of an imported array. The struct is frozen: it never grows, because nodes have arrays
 * of it.
 */
struct arrowdevice_node_buffer {
  const void* data; /* address or handle, as in the array; NULL if the array has no such buffer */
  int64_t size;     /* bytes, from the start of the buffer to the last byte that the array uses */
  uint32_t role;    /* ARROWDEVICE_ROLE_* */
  uint32_t flags;   /* ARROWDEVICE_BUFFER_* */
  uint64_t reserved;
};

/**
 * One node of an imported array, with its type and its typed buffers. The struct is frozen: it
 * never grows. The view owns the node and all texts and arrays to which the node points.
 */
struct arrowdevice_node {
  const char *name, *format, *metadata, *extension_name, *extension_metadata; /* NULL if there is none */
  int64_t extension_metadata_size;                                            /* bytes */
  int64_t length, offset, null_count, flags;                                  /* rows; flags are ARROW_FLAG_* */
  int32_t layout, n_buffers;                                                  /* layout is ARROWDEVICE_LAYOUT_* */
  int64_t n_children;
  int64_t bit_width; /* bits of a fixed-width value, else 0 */
  int64_t list_size; /* values of a fixed-size list, else 0 */
  const struct arrowdevice_node_buffer* buffers;
  const struct arrowdevice_node* const* children;
  const struct arrowdevice_node* dictionary; /* NULL if there is none */
  const struct ArrowArray* array;            /* the struct that the node describes */
  uint64_t reserved[4];
};

/**
 * Imports a foreign array: checks it against its schema and makes a view of its typed buffers.
 * Copies no data.
 *
 * @param moved    The array. The view owns it until the view is detached or released.
 * @param schema   Type of the array.
 * @param options  Options, or NULL: the call checks the structure, and no queue waits.
 * @param out      Receives the view. The caller ends it with arrowdevice_view_detach(),
 *                 arrowdevice_view_release() or arrowdevice_view_release_after().
 *
 * Errors:
 * - EINVAL if the array does not match its schema. The message names the child, such as
 *   "batch.prices.item: ...".
 * - EINVAL if the options have unknown flags or an unknown level.
 * - ENOTSUP if a format is unknown, or if the backend cannot import the array's event.
 * - ENODEV if the array's device is not present.
 * - ETIMEDOUT if a wait exceeds `timeout_ns`.
 * - EIO if the producer's work failed, or if the driver fails.
 * - The general errors.
 * Implements: "Memory management", "Synchronization"; the layouts of the columnar format.
 * Thread-safety: per object. Blocks in three cases: with ARROWDEVICE_IMPORT_RESOLVE_SIZES; if the
 * queue's device cannot wait for the event; and if `validate` is above
 * ARROWDEVICE_VALIDATE_STRUCTURE.
 */
ARROWDEVICE_API int arrowdevice_array_import(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                             const struct arrowdevice_import_options* options,
                                             struct arrowdevice_view** out, struct arrowdevice_error* error);

/**
 * Returns the root of the view's tree of nodes. It is valid until the view ends.
 *
 * @param view  The view. If it is NULL, the result is NULL.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API const struct arrowdevice_node* arrowdevice_view_get_root(const struct arrowdevice_view* view);

/**
 * Returns the array that the view owns. It is valid until the view ends.
 *
 * @param view  The view. If it is NULL, the result is NULL.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API const struct ArrowDeviceArray* arrowdevice_view_get_array(const struct arrowdevice_view* view);

/**
 * Returns the device of the view's array.
 *
 * @param view  The view. If it is NULL, the result is NULL.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API struct arrowdevice_device* arrowdevice_view_get_device(const struct arrowdevice_view* view);

/**
 * Makes a device array that is a shared owner of the view's memory. Copies no data.
 *
 * @param view  The view, which stays valid.
 * @param out   Receives the array.
 *
 * Errors:
 * - EINVAL if a child of the array is NULL, released or its own ancestor.
 * - The general errors.
 * Implements: "Memory management".
 * Thread-safety: free. Does not block.
 */
ARROWDEVICE_API int arrowdevice_view_share(const struct arrowdevice_view* view, struct ArrowDeviceArray* out,
                                           struct arrowdevice_error* error);

/**
 * Ends a view and moves its array to `out`. If `out` is NULL, the call has no effect.
 *
 * @param view  The view, or NULL.
 * @param out   Receives the array as it was imported.
 *
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API void arrowdevice_view_detach(struct arrowdevice_view* view, struct ArrowDeviceArray* out);

/**
 * Ends a view and releases its array. The caller promises that its own device work on the array has
 * finished.
 *
 * @param view  The view, or NULL.
 *
 * Implements: "Memory management".
 * Thread-safety: per object. Never waits for device work of the library.
 */
ARROWDEVICE_API void arrowdevice_view_release(struct arrowdevice_view* view);

/**
 * Ends a view and releases its array when the queue's work so far has finished.
 *
 * The release runs as arrowdevice_array_release_after() says. If the call fails, the view stays as
 * it was, and the caller must end it later.
 *
 * @param moved  The view, which ends on success.
 * @param queue  Queue that has the caller's work on the array.
 *
 * Errors:
 * - EIO if the queue failed, or if the driver fails.
 * - The general errors.
 * Implements: "Memory management".
 * Thread-safety: per object. Returns at once.
 */
ARROWDEVICE_API int arrowdevice_view_release_after(struct arrowdevice_view* moved, struct arrowdevice_queue* queue,
                                                   struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_VIEW_H */
