/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file array.h
 * Device arrays: export, own, wait, share, slice, select and validate them. An array that one of
 * these functions makes refers to the memory of its source.
 *
 * copy.h copies arrays to other devices. view.h imports foreign arrays and shows their buffers.
 */
#ifndef ARROWDEVICE_ARRAY_H
#define ARROWDEVICE_ARRAY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Levels of validation */
#define ARROWDEVICE_VALIDATE_STRUCTURE 0 /* checks the structs */
#define ARROWDEVICE_VALIDATE_FULL 1      /* also checks the data, on any device */
#define ARROWDEVICE_VALIDATE_STRICT 2    /* also checks rules that real producers neglect */

/* -- export ------------------------------------------------------------------------------------------------------- */

/**
 * Makes a device array from buffers that are on a device already.
 *
 * @param device          Device of the buffers.
 * @param moved           Array whose buffers are on `device`.
 * @param producer_queue  Queue whose work so far writes the buffers, so that the array's event
 *                        fires after that work. NULL means that the data is ready.
 * @param out             Receives the array, with `reserved` zeroed. Its children may be moved out
 *                        and released on their own.
 *
 * Errors:
 * - EIO if the queue's work failed, or if the driver fails.
 * - The general errors.
 * Implements: "The ArrowDeviceArray structure", "Synchronization".
 * Thread-safety: per object. If the device publishes no events or the queue belongs to another
 * backend, the call waits for the queue without limit. Otherwise it does not block. If the thread's
 * check ends that wait, the queue's work may still write the buffers.
 */
ARROWDEVICE_API int arrowdevice_array_export(struct arrowdevice_device* device, struct ArrowArray* moved,
                                             struct arrowdevice_queue* producer_queue, struct ArrowDeviceArray* out,
                                             struct arrowdevice_error* error);

/**
 * Makes a device array as arrowdevice_array_export() does, with an event that the application
 * recorded.
 *
 * @param device         Device of the buffers.
 * @param moved          Array whose buffers are on `device`.
 * @param sync_event     Pointer to the native event, in the form that the format defines for the
 *                       device type.
 * @param event_release  Called once, from any thread, after the last array that shares the memory
 *                       is released. The library does not call it if this call fails. NULL means
 *                       that the event outlives the array.
 * @param user           Passed to `event_release`. It must stay valid until then.
 * @param out            Receives the array.
 *
 * Errors:
 * - EINVAL if arrays of the device type have no events, or if the backend refuses the event.
 * - EIO if the driver fails.
 * - The general errors.
 * Implements: "Synchronization event types".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_array_export_event(struct arrowdevice_device* device, struct ArrowArray* moved,
                                                   void* sync_event,
                                                   void (*event_release)(void* user, void* sync_event), void* user,
                                                   struct ArrowDeviceArray* out, struct arrowdevice_error* error);

/**
 * Makes a device array from a CPU array: device type CPU, id -1, no event. O(1).
 *
 * @param moved  The CPU array.
 * @param out    Receives the device array.
 *
 * Errors: the general errors.
 * Implements: "The ArrowDeviceArray structure".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_array_from_host(struct ArrowArray* moved, struct ArrowDeviceArray* out,
                                                struct arrowdevice_error* error);

/**
 * Finds the device of an array. If the backend can find the device of a buffer or event, the
 * library asks it. Otherwise the array's type and id decide.
 *
 * @param array  The array.
 * @param out    Receives the device.
 *
 * Errors:
 * - ENODEV if there is no driver or no such device, or if the buffers belong to no device that the
 *   backend knows.
 * - ENOTSUP if neither the format nor any backend knows the device type.
 * - EIO if the driver fails.
 * - The general errors.
 * Implements: "ArrowDeviceType", "ArrowDeviceArray.device_id".
 * Thread-safety: free on a `const` array. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_array_get_device(const struct ArrowDeviceArray* array, struct arrowdevice_device** out,
                                                 struct arrowdevice_error* error);

/* -- ownership ---------------------------------------------------------------------------------------------------- */

/**
 * Moves a device array to another struct: overwrites `to` and sets the `release` of `from` to NULL.
 * O(1).
 *
 * @param from  The array, or NULL.
 * @param to    Struct that receives the array, or NULL. If either is NULL or both are the same, the
 *              call has no effect.
 *
 * Implements: "Moving an array".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API void arrowdevice_array_move(struct ArrowDeviceArray* from, struct ArrowDeviceArray* to);

/**
 * Releases an array. The caller promises that its own device work on the array has finished, and
 * that no asynchronous copy still reads from the array. The result of an asynchronous copy may be
 * released while that copy runs (see arrowdevice_array_copy()).
 *
 * @param array  The array. If it is NULL or released, the call has no effect.
 *
 * Implements: "Memory management".
 * Thread-safety: per object, from any thread. Never waits for device work of the library.
 */
ARROWDEVICE_API void arrowdevice_array_release(struct ArrowDeviceArray* array);

/**
 * Releases an array when the queue's work so far has finished.
 *
 * If that work has finished already, the producer's release callback runs on the calling thread.
 * Otherwise it runs as deferred work (see arrowdevice_deferred_set_manual()). If the call fails,
 * the array still belongs to the caller. The caller must release it when its work has finished.
 *
 * @param moved  The array.
 * @param queue  Queue that has the caller's work on the array.
 *
 * Errors:
 * - EIO if the queue failed, or if the driver fails.
 * - The general errors.
 * Implements: "Memory management".
 * Thread-safety: per object. Returns at once.
 */
ARROWDEVICE_API int arrowdevice_array_release_after(struct ArrowDeviceArray* moved, struct arrowdevice_queue* queue,
                                                    struct arrowdevice_error* error);

/**
 * Makes a second array of the same memory. Both arrays become owners.
 *
 * The producer's release callback runs after the last owner is released. A child that was moved out
 * is an owner too.
 *
 * @param inout  The array, which stays valid.
 * @param out    Receives the second array.
 *
 * Errors:
 * - EINVAL if a child is NULL, released or its own ancestor, or if buffers or children are missing.
 * - EINVAL if the array has an event, but arrays of its device type have no events.
 * - The general errors.
 * Implements: "Memory management", "Moving an array".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_array_share(struct ArrowDeviceArray* inout, struct ArrowDeviceArray* out,
                                            struct arrowdevice_error* error);

/* -- synchronization ---------------------------------------------------------------------------------------------- */

/**
 * Tells if an array's event has fired.
 *
 * @param array          The array.
 * @param source_device  Device of the array, or NULL to find it from the array.
 * @param out            Receives 1 if the event has fired or if there is none, and 0 if it has not
 *                       fired or if the call fails.
 *
 * Errors:
 * - EINVAL if the array has an event, but arrays of its device type have no events.
 * - ENOTSUP if the backend cannot import events.
 * - ENODEV if the array's device is not present.
 * - EIO if the producer's work failed, or if the driver fails.
 * - The general errors.
 * Implements: "Synchronization".
 * Thread-safety: free on a `const` array. Does not wait for the event.
 */
ARROWDEVICE_API int arrowdevice_array_is_ready(const struct ArrowDeviceArray* array,
                                               struct arrowdevice_device* source_device, int* out,
                                               struct arrowdevice_error* error);

/**
 * Makes the CPU wait for an array's event. If there is none, the call succeeds at once. After
 * ETIMEDOUT the application may call again.
 *
 * @param array          The array.
 * @param source_device  Device of the array, or NULL to find it from the array.
 * @param timeout_ns     Time-out in nanoseconds, as the conventions say.
 *
 * Errors:
 * - ETIMEDOUT if the event has not fired when the time-out ends.
 * - All errors of arrowdevice_array_is_ready().
 * Implements: "Synchronization".
 * Thread-safety: free on a `const` array. Blocks up to `timeout_ns`.
 */
ARROWDEVICE_API int arrowdevice_array_wait(const struct ArrowDeviceArray* array,
                                           struct arrowdevice_device* source_device, int64_t timeout_ns,
                                           struct arrowdevice_error* error);

/**
 * Makes a file descriptor for event loops such as `poll` and `epoll`. It becomes readable when the
 * array's event has fired or failed, or at once if there is no event. A call of
 * arrowdevice_array_is_ready() then tells success from failure.
 *
 * The caller keeps the array until the descriptor is readable, even if the caller has closed it. If
 * the mode of deferred work is manual, arrowdevice_deferred_run() makes the descriptor readable.
 *
 * @param array          The array.
 * @param source_device  Device of the array, or NULL to find it from the array.
 * @param out            Receives a non-blocking Linux `eventfd`, or -1 if the call fails. The caller
 *                       closes it, at any time.
 *
 * Errors:
 * - EMFILE, ENFILE or ENOMEM if there are no more descriptors.
 * - All errors of arrowdevice_array_is_ready(). A failure of the producer's work is no error here.
 * Implements: "Synchronization".
 * Thread-safety: free on a `const` array. Does not wait for the event.
 */
ARROWDEVICE_API int arrowdevice_array_open_eventfd(const struct ArrowDeviceArray* array,
                                                   struct arrowdevice_device* source_device, int* out,
                                                   struct arrowdevice_error* error);

/* -- rows and columns --------------------------------------------------------------------------------------------- */

/**
 * Makes an array of some rows of `inout`. Both arrays are owners of the memory then. Reads no data.
 *
 * @param inout   The array, which stays valid and becomes a shared owner.
 * @param schema  Type of the array.
 * @param offset  First row, counted from the array's own first row.
 * @param length  Number of rows.
 * @param out     Receives the slice. A record batch is a root of type `+s` without validity. The root
 *                of its slice has offset 0, and each child is sliced instead.
 *
 * Errors:
 * - EINVAL if rows are outside of the array, or if the array does not match its schema.
 * - ENOTSUP if a format is unknown.
 * - The general errors.
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_array_slice(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                            int64_t offset, int64_t length, struct ArrowDeviceArray* out,
                                            struct arrowdevice_error* error);

/**
 * Makes an array of some columns of a struct array or record batch. Both arrays are owners of the
 * memory then.
 *
 * @param inout       The array, which stays valid and becomes a shared owner.
 * @param schema      Type of the array.
 * @param children    `n` indices of children, in the order of the result. An index may appear
 *                    several times.
 * @param n           Number of indices.
 * @param out         Receives the array.
 * @param out_schema  Receives the type of `out`, as an independent copy. May be NULL.
 *
 * Errors:
 * - EINVAL if `n` is negative, an index is out of range, or `out_schema` is `schema`.
 * - EINVAL if the array is not a struct or does not match its schema.
 * - ENOTSUP if a format is unknown.
 * - The general errors.
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_array_select(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                             const int64_t* children, int64_t n, struct ArrowDeviceArray* out,
                                             struct ArrowSchema* out_schema, struct arrowdevice_error* error);

/* -- validation --------------------------------------------------------------------------------------------------- */

/**
 * Checks an array against its schema. Each level includes the levels before it.
 *
 * - ARROWDEVICE_VALIDATE_STRUCTURE checks the structs and reads no data.
 * - ARROWDEVICE_VALIDATE_FULL also checks the data:
 *   - The array's device can use each buffer, and each buffer is large enough, as far as the driver
 *     reports this.
 *   - `null_count` is correct.
 *   - Offsets, views, type ids, run ends and dictionary indices are in range.
 *   - In string and binary views, the prefix equals the first 4 bytes of the value, and the unused
 *     bytes of an inline value are zero.
 *   - Texts are UTF-8.
 * - ARROWDEVICE_VALIDATE_STRICT also checks rules that real producers neglect:
 *   - `reserved` is zero.
 *   - `null_count` is not -1 if there is no validity bitmap.
 *   - Fields that are not nullable have no nulls in rows that are visible through their parents.
 *
 * The library cannot know the size of a buffer that was allocated without a driver, for example
 * with `malloc`, and does not check it.
 *
 * @param array          The array.
 * @param schema         Type of the array.
 * @param source_device  Device of the array, or NULL to find it from the array.
 * @param level          One of `ARROWDEVICE_VALIDATE_*`.
 *
 * Errors:
 * - EINVAL if the array is not valid (the message names the child and the slot), or if `level` is
 *   unknown.
 * - ENOTSUP if a format is unknown.
 * - With FULL or STRICT: ENODEV if the array's device is not present.
 * - With FULL or STRICT: EIO if the producer's work failed or the driver fails.
 * - ENOMEM if the host or the device has no memory.
 * - The general errors.
 * Implements: "Structure definitions"; the layouts of the columnar format.
 * Thread-safety: free on a `const` array. With FULL or STRICT, the call waits without limit until
 * the array is ready. It then reads the data back in blocks of 1 MiB.
 */
ARROWDEVICE_API int arrowdevice_array_validate(const struct ArrowDeviceArray* array, const struct ArrowSchema* schema,
                                               struct arrowdevice_device* source_device, int level,
                                               struct arrowdevice_error* error);

/* -- schemas and CPU arrays --------------------------------------------------------------------------------------- */

/**
 * Copies a schema deeply. The copy is independent of the original.
 *
 * @param schema  The schema.
 * @param out     Receives the copy.
 *
 * Errors:
 * - EINVAL if the schema is released or malformed.
 * - The general errors.
 * Thread-safety: free on a `const` schema. Does not block.
 */
ARROWDEVICE_API int arrowdevice_schema_copy(const struct ArrowSchema* schema, struct ArrowSchema* out,
                                            struct arrowdevice_error* error);

/**
 * Releases a schema, for languages that cannot call its release callback.
 *
 * @param schema  The schema. If it is NULL or released, the call has no effect.
 *
 * Thread-safety: per object.
 */
ARROWDEVICE_API void arrowdevice_schema_release(struct ArrowSchema* schema);

/**
 * Releases a CPU array, for languages that cannot call its release callback.
 *
 * @param array  The array. If it is NULL or released, the call has no effect.
 *
 * Thread-safety: per object.
 */
ARROWDEVICE_API void arrowdevice_host_array_release(struct ArrowArray* array);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_ARRAY_H */
