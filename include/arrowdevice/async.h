/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file async.h
 * Async streams: the library as a producer, as a consumer, and between a producer and a consumer.
 *
 * Two layouts of `ArrowAsyncProducer` exist. The published text has a member `release` between
 * `cancel` and the metadata, and its struct has 48 bytes. The struct of Arrow's libraries has 40
 * bytes and no `release`. The library fills its own struct so that the metadata can be read with
 * either layout. A consumer with the layout of 48 bytes sees a pointer to the metadata where it
 * expects `release`. That pointer is not a function, so such a consumer must not call it.
 * In the struct of a foreign producer, the library reads no member after `cancel`, unless
 * `upstream_layout` names the layout.
 *
 * **Handlers that the library makes** (`out_handler`, `out_upstream`):
 *
 * - The caller gives the handler to one producer, which sets `handler->producer` before it calls
 *   `on_schema`.
 * - The producer makes its calls one at a time, from any thread. It calls `release` last, also
 *   after an error.
 * - `release` frees the handler. No thread may touch the handler afterwards.
 * - If no producer ever gets the handler, the caller calls its `release`.
 * - The handler and the stream (or the downstream handler) may be released in any order.
 * - If `on_schema` returns an error, the producer must call `release` and nothing else.
 *
 * **The library as a consumer** calls a foreign producer by these rules:
 *
 * - It holds no lock during `request`, `cancel` and `extract_data`, so the producer may hold its
 *   own lock while it calls the handler.
 * - It calls `request` only while the producer is alive: in a callback of the handler, or while it
 *   holds a task that it has not extracted.
 * - It calls `cancel` at most once, from any thread, and `request` no more afterwards.
 * - Three callbacks of the handler end the library's use of the producer: `on_next_task` with NULL,
 *   `on_error`, and `release`. When one of them has returned, the library calls neither `request`
 *   nor `cancel`.
 * - Such a callback waits until no thread of the library is inside a function of the producer. It
 *   waits for at most 100 ms. Then it returns in any case.
 * - If the library refuses a task, such as one with malformed metadata, it discards the task and
 *   cancels the producer. `on_next_task` then returns 0.
 * - If an extraction fails, the library waits up to a second for the producer's `on_error` and
 *   reports that error.
 *
 * **The library as a producer** (arrowdevice_async_produce() and the downstream side of
 * arrowdevice_async_to_device()):
 *
 * - If the function succeeds, the library borrows the consumer's handler until it has called the
 *   handler's `release`. It makes no call of the handler after that.
 * - The library makes its calls on the executor, which is the application's `submit` or a thread of
 *   the stream. It makes one call at a time, and never within `request` or `cancel`.
 * - `request(n)` allows `n` calls of `on_next_task`. The call that marks the end counts too, so a
 *   stream of `m` arrays needs `m + 1`.
 * - The consumer may call `request` and `cancel` from any thread, from the start of `on_schema`
 *   until its handler is released. After the release, the consumer may call them only while it
 *   holds a task that it has not extracted.
 * - The struct of a task, its metadata, and the text of an error are valid only during the
 *   callback. A consumer that extracts later copies the struct of the task. A task is extracted
 *   once. Extracting it into NULL discards it. A second extraction fails with EINVAL.
 * - If `on_next_task` fails, the library discards the task, unless the consumer has extracted it.
 * - If `n` of `request` is 0 or negative, the stream ends with `on_error` and EINVAL, then
 *   `release`.
 * - After `cancel`, or if a callback fails, the stream ends with `release` alone.
 */
#ifndef ARROWDEVICE_ASYNC_H
#define ARROWDEVICE_ASYNC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Layouts of a foreign ArrowAsyncProducer */
#define ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN 0  /* the library does not read the metadata */
#define ARROWDEVICE_ASYNC_LAYOUT_40_BYTES 1 /* the layout of abi.h and of Arrow's libraries, without `release` */
#define ARROWDEVICE_ASYNC_LAYOUT_48_BYTES 2 /* the layout of the published text, with `release` after `cancel` */

/** Options of async streams. */
struct arrowdevice_async_options {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  /** Arrays that the library requests ahead of the consumer. 0 means 4. */
  int32_t depth;
  /** Layout of a foreign ArrowAsyncProducer, ARROWDEVICE_ASYNC_LAYOUT_*. */
  int32_t upstream_layout;
  /**
   * Flags of copies, ARROWDEVICE_COPY_* of copy.h. ARROWDEVICE_COPY_ASYNC has no effect, because it
   * is always on.
   */
  uint32_t copy_flags;
  uint32_t reserved;
  /** arrowdevice_stream_options says what the next three mean, and how long the stream uses them. */
  struct arrowdevice_queue* queue;
  struct arrowdevice_pool* pool;
  struct arrowdevice_device* source_device;
  /**
   * Executor of the application, or NULL for one thread of the stream. `submit` schedules
   * `job(arg)` for any thread, and never runs it itself. It returns 0 if it accepts the job. Every
   * accepted job must run. If `submit` returns another value, it refuses the job, and the stream
   * ends with that value as its error. A stream submits one job at a time.
   */
  int (*submit)(void* user, void (*job)(void* arg), void* arg);
  /**
   * Passed to `submit` and `get_metadata`. Must stay valid until the stream has ended and its last
   * job has returned.
   */
  void* user;
  /**
   * Metadata of a stream for arrowdevice_async_produce(), or NULL. Without this callback, the
   * consumer gets the metadata of arrowdevice_stream_get_metadata().
   *
   * The library calls it after it has called `get_schema` or `get_next`, on the same thread. After
   * a `get_schema` that succeeded, `kind` is ARROWDEVICE_METADATA_STREAM. After each `get_next`,
   * and after a `get_schema` that failed, `kind` is ARROWDEVICE_METADATA_ITEM. The callback returns
   * NULL if there is no metadata. The library copies the metadata at once. Malformed metadata ends
   * the stream with EINVAL.
   */
  const char* (*get_metadata)(void* user, int32_t kind);
};

/**
 * Produces the arrays of a stream for a handler, as fast as the handler requests them.
 *
 * At most one job of the executor reads from the stream at a time. If the stream waits, that job
 * blocks.
 *
 * @param moved    The stream. On failure it still belongs to the caller.
 * @param handler  The consumer's handler. The library borrows it until it calls `release`. The
 *                 consumer's `release` may free the handler. If the call fails, the library made no
 *                 callback, and the handler still belongs to the caller.
 * @param options  Options, or NULL for the defaults. Of the options, the call uses only `submit`,
 *                 `user` and `get_metadata`.
 *
 * Errors:
 * - EINVAL if the handler lacks a callback, or if the options are not valid.
 * - ENOMEM if the library can start no thread.
 * - The value of `submit`, if the executor refuses the job.
 * - The general errors.
 * - Later, by `on_error`: the stream's error with its text. The consumer first gets the
 *   arrays that precede the error.
 * - Later, by `on_error`: EINVAL if an array is in memory that devices of the stream's type cannot
 *   use.
 * - Later, by `on_error`: EINVAL if metadata is malformed.
 * Implements: "Async Device Stream Interface".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_async_produce(struct ArrowDeviceArrayStream* moved,
                                              struct ArrowAsyncDeviceStreamHandler* handler,
                                              const struct arrowdevice_async_options* options,
                                              struct arrowdevice_error* error);

/**
 * Makes a handler for a producer, and the stream of the arrays that the handler receives.
 *
 * The library requests `depth` arrays ahead. The thread that reads the stream extracts the tasks.
 * Releasing the stream cancels the producer. It does not release the handler: the
 * producer does.
 *
 * @param device_type  Device type of the arrays.
 * @param options      Options, or NULL for the defaults. The call uses only `depth` and
 *                     `upstream_layout`.
 * @param out_handler  Receives the handler for the producer. The rules above say how it ends.
 * @param out          Receives the stream. The caller releases it. Its `get_schema` and `get_next`
 *                     wait for the producer, and arrowdevice_stream_cancel() wakes them.
 *                     arrowdevice_stream_get_metadata() returns the producer's metadata.
 *
 * Errors:
 * - EINVAL if `device_type` is not positive, or if the options are not valid.
 * - The general errors.
 * - Later, from the stream: the producer's error. The consumer first gets the arrays that
 *   precede the error.
 * - Later, from the stream: EIO if the producer releases the handler before the end.
 * - Later, from the stream: EINVAL if the end comes before the schema.
 * - Later, from the stream and from `on_schema`: EINVAL if the producer has another device type.
 * - Later, from the stream: EINVAL if metadata is malformed.
 * Implements: "The ArrowAsyncDeviceStreamHandler structure".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_async_collect(ArrowDeviceType device_type,
                                              const struct arrowdevice_async_options* options,
                                              struct ArrowAsyncDeviceStreamHandler** out_handler,
                                              struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

/**
 * Makes a handler for a producer. The handler puts each array on a device and passes it to another
 * handler.
 *
 * It puts arrays on the device as arrowdevice_array_to_device() does, and holds at most `depth`
 * arrays. The event of an array may still be pending when the downstream handler gets the array.
 * The library passes metadata on.
 *
 * @param downstream    The consumer's handler. The library borrows it until it calls `release`. If
 *                      the call fails, the handler is untouched and still belongs to the caller.
 * @param to            Target device.
 * @param options       Options, or NULL for the defaults.
 * @param out_upstream  Receives the handler for the producer. The rules above say how it ends. If
 *                      it is released without a producer, `downstream` gets `on_error` and
 *                      `release`.
 *
 * Errors:
 * - EINVAL if the handler lacks a callback, if the options are not valid, or if the pool or queue
 *   can serve no array on `to`.
 * - ENOMEM if the library can start no thread.
 * - The general errors.
 * - Later, by `on_error`: the producer's error.
 * - Later, by `on_error`, after the schema: EINVAL if the queue cannot serve the producer's device
 *   type.
 * - Later, by `on_error`: all errors of arrowdevice_array_to_device() but ETIMEDOUT, because its
 *   waits have no limit.
 * - Later, by `on_error`: EINVAL if the end comes before the schema, or if metadata of a task is
 *   malformed.
 * - Later, by `on_error`: EIO if the producer releases its handler before the end, or before its
 *   schema.
 * Implements: "The ArrowAsyncDeviceStreamHandler structure".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_async_to_device(struct ArrowAsyncDeviceStreamHandler* downstream,
                                                struct arrowdevice_device* to,
                                                const struct arrowdevice_async_options* options,
                                                struct ArrowAsyncDeviceStreamHandler** out_upstream,
                                                struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_ASYNC_H */
