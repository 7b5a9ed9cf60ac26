/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file stream.h
 * Streams of device arrays: make them, move their batches to a device or to the CPU, read, cancel
 * and release them.
 *
 * Rules for a stream that the library returns:
 *
 * - The consumer uses it from one thread at a time, as the format says. It may release the stream
 *   before its end.
 * - The text of `get_last_error` is valid until the next call on the stream.
 * - Every error of `get_next` is final, ETIMEDOUT included: every later `get_next` fails with the
 *   same error. To go on after a time-out, make a new stream.
 * - The end is final too. Every later `get_next` succeeds with a released array.
 */
#ifndef ARROWDEVICE_STREAM_H
#define ARROWDEVICE_STREAM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of arrowdevice_stream_options */
#define ARROWDEVICE_STREAM_READ_AHEAD 1 /* a thread of the stream calls the producer */

/** Options of streams that move their batches. */
struct arrowdevice_stream_options {
  uint32_t struct_size;
  /**
   * ARROWDEVICE_STREAM_READ_AHEAD: a thread of the stream calls the producer. It starts with the
   * consumer's first call. Without the flag, the library calls the producer only on the consumer's
   * thread, during the consumer's calls.
   */
  uint32_t flags;
  /**
   * Number of batches in progress, including the one that the consumer gets next. With 2, the
   * stream has read batch 2 and started its copy when the consumer gets batch 1. 0 means 2.
   */
  int32_t depth;
  /**
   * Flags of copies, ARROWDEVICE_COPY_* of copy.h. ARROWDEVICE_COPY_ASYNC has no effect, because it
   * is always on.
   */
  uint32_t copy_flags;
  /**
   * Queue for the copies, as in arrowdevice_copy_options, or NULL for a queue of the library. The
   * stream uses it until the stream is released. Meanwhile the application may call only
   * arrowdevice_queue_destroy() on it. The comment of that function says how the stream goes on.
   */
  struct arrowdevice_queue* queue;
  /**
   * Pool of the target device, or NULL for its default pool. The stream holds a reference until it
   * is released.
   */
  struct arrowdevice_pool* pool;
  /**
   * Device of the batches, or NULL to find it from each batch. If it is wrapped, the application
   * may unwrap it while the stream is alive. Later batches then fail with ENODEV.
   */
  struct arrowdevice_device* source_device;
  /**
   * Time-out in nanoseconds for all waits of one `get_schema` or `get_next` together.
   * ARROWDEVICE_NO_TIMEOUT (0) waits without limit. If the time-out ends, the function fails with
   * ETIMEDOUT. For `get_next` this is final. With ARROWDEVICE_POLL, the first array that is not
   * ready ends the stream. The time of the producer's own calls counts only with
   * ARROWDEVICE_STREAM_READ_AHEAD.
   */
  int64_t timeout_ns;
};

/* Kinds of metadata of a stream, for arrowdevice_stream_get_metadata() */
#define ARROWDEVICE_METADATA_STREAM 0 /* of the stream */
#define ARROWDEVICE_METADATA_ITEM 1   /* of the last result of `get_next`: an array, the end, or an error */

/* -- sources ------------------------------------------------------------------------------------------------------ */

/**
 * Makes a stream of `n` arrays of one schema, in their order.
 *
 * On success the stream owns the schema and all arrays. On failure they all still belong to the
 * caller.
 *
 * @param moved         Type of the arrays.
 * @param moved_arrays  `n` arrays. On success the library sets `release` of each to NULL. The C
 *                      array itself still belongs to the caller.
 * @param n             Number of arrays. It may be 0.
 * @param device_type   Device type of all arrays.
 * @param out           Receives the stream.
 *
 * Errors:
 * - EINVAL if `n` is negative, `device_type` is not positive, or an array does not match the schema
 *   or is not on `device_type`. The message names the array.
 * - EINVAL if an array has an event, but arrays of its device type have no events, as on the CPU.
 * - ENOTSUP if a format is unknown.
 * - The general errors.
 * Implements: "The ArrowDeviceArrayStream structure".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_stream_from_arrays(struct ArrowSchema* moved, struct ArrowDeviceArray* moved_arrays,
                                                   int64_t n, ArrowDeviceType device_type,
                                                   struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

/**
 * Makes a device stream on the CPU from a C stream. Until the end or an error, each call that the
 * consumer makes leads to one call to the producer.
 *
 * @param moved  The C stream.
 * @param out    Receives the device stream.
 *
 * Errors:
 * - The general errors.
 * - Later, from the stream: the producer's error, with its text.
 * Implements: "The ArrowDeviceArrayStream structure".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_stream_from_host(struct ArrowArrayStream* moved, struct ArrowDeviceArrayStream* out,
                                                 struct arrowdevice_error* error);

/* -- batches on another device ------------------------------------------------------------------------------------ */

/**
 * Makes a C stream of the batches of a device stream. Puts each batch on the CPU, as
 * arrowdevice_array_to_host() does.
 *
 * Each batch is complete when the stream gives it out. The stream starts a thread for the copies,
 * even without ARROWDEVICE_STREAM_READ_AHEAD.
 *
 * @param moved    The device stream.
 * @param options  Options, or NULL for the defaults.
 * @param out      Receives the C stream.
 *
 * Errors: as arrowdevice_stream_to_device(), with the CPU as the target.
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_stream_to_host(struct ArrowDeviceArrayStream* moved,
                                               const struct arrowdevice_stream_options* options,
                                               struct ArrowArrayStream* out, struct arrowdevice_error* error);

/**
 * Makes a stream that puts each batch on a device, as arrowdevice_array_to_device() does.
 *
 * - A batch that the device can use at full speed is shared, the others are copied. The event of a
 *   batch may still be pending when the consumer gets the batch.
 * - The stream holds at most `depth` batches. It does not call the producer before the consumer's
 *   first call.
 * - Staged copies, large copies of pageable memory, and copies to devices without events run on a
 *   thread of the stream.
 * - Releasing the stream returns at once. Work in flight completes as deferred work. If a thread of
 *   the stream is inside the producer, that thread releases the producer when the producer returns.
 *
 * @param moved    The stream.
 * @param to       Target device.
 * @param options  Options, or NULL for the defaults.
 * @param out      Receives the stream of batches on `to`.
 *
 * Errors:
 * - EINVAL if the options have unknown flags or a negative `depth`, or if the pool belongs to
 *   another device than `to`.
 * - EINVAL if the queue cannot serve batches of the stream's device type or of `source_device`.
 * - The general errors.
 * - Later, from the stream: the producer's error with its text. The consumer first gets the batches
 *   that precede the error.
 * - Later, from the stream: EINVAL if a batch is in memory that devices of the stream's type cannot
 *   use. A stream on CUDA may also have batches in CUDA_HOST memory, which those devices can use.
 * - Later, from the stream: all errors of arrowdevice_array_to_device().
 * Implements: "Device Stream Interface".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_stream_to_device(struct ArrowDeviceArrayStream* moved, struct arrowdevice_device* to,
                                                 const struct arrowdevice_stream_options* options,
                                                 struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

/* -- use of a stream ---------------------------------------------------------------------------------------------- */

/**
 * Gets the schema of a device stream. The caller releases it.
 *
 * If the library made the stream, `error` has all facts of the failure, such as `backend` and
 * `native_code`. If the error passed through an async handler or a foreign stream, `error` has only
 * its code and text.
 *
 * @param stream  The stream.
 * @param out     Receives the schema.
 *
 * Errors:
 * - ECANCELED if the stream was cancelled before its schema arrived.
 * - The producer's error, with its text.
 * - The general errors.
 * Implements: "ArrowDeviceArrayStream.get_schema".
 * Thread-safety: per object. Blocks as the producer does.
 */
ARROWDEVICE_API int arrowdevice_stream_get_schema(struct ArrowDeviceArrayStream* stream, struct ArrowSchema* out,
                                                  struct arrowdevice_error* error);

/**
 * Gets the next array of a device stream. The caller releases it. A released array marks the end.
 *
 * `error` is filled as arrowdevice_stream_get_schema() says. If the library made the stream,
 * every error is final, as the rules above say.
 *
 * @param stream  The stream.
 * @param out     Receives the array.
 *
 * Errors:
 * - ECANCELED if the stream was cancelled.
 * - ETIMEDOUT if a wait exceeds the stream's `timeout_ns`.
 * - The errors under "Later, from the stream" of the function that made the stream.
 * - The producer's error, with its text.
 * - The general errors.
 * Implements: "ArrowDeviceArrayStream.get_next", "get_last_error".
 * Thread-safety: per object. Blocks as the producer does.
 */
ARROWDEVICE_API int arrowdevice_stream_get_next(struct ArrowDeviceArrayStream* stream, struct ArrowDeviceArray* out,
                                                struct arrowdevice_error* error);

/**
 * Gets metadata of a stream that this library made. Metadata is encoded like ArrowSchema.metadata.
 *
 * Streams of arrowdevice_async_collect() have the metadata that the async producer gave.
 * arrowdevice_stream_to_device() passes it on. Other streams have none.
 *
 * @param stream  The stream.
 * @param kind    ARROWDEVICE_METADATA_STREAM or ARROWDEVICE_METADATA_ITEM. For the metadata of the
 *                stream, the call waits for the schema.
 * @param out     Receives the metadata, or NULL if there is none. The stream owns it. Metadata of
 *                an item is valid until the next `get_next`, metadata of the stream until the
 *                stream's release.
 *
 * Errors:
 * - EINVAL if `kind` is unknown.
 * - EINVAL if the stream is released or belongs to another library.
 * - The errors of arrowdevice_stream_get_schema(), for ARROWDEVICE_METADATA_STREAM.
 * - The general errors.
 * Implements: "Async Device Stream Interface", the metadata of its structs and callbacks.
 * Thread-safety: per object. Blocks as arrowdevice_stream_get_schema() does, for
 * ARROWDEVICE_METADATA_STREAM.
 */
ARROWDEVICE_API int arrowdevice_stream_get_metadata(struct ArrowDeviceArrayStream* stream, int32_t kind,
                                                    const char** out, struct arrowdevice_error* error);

/**
 * Cancels a stream that this library made. The stream still has to be released, but not while this
 * call runs.
 *
 * From then on `get_next` fails with ECANCELED. A `get_next` that waits for a thread of the stream
 * wakes up. A `get_next` that is inside a foreign producer fails when the producer returns.
 *
 * @param stream  The stream.
 *
 * Errors:
 * - EINVAL if the stream is released or belongs to another library.
 * - The general errors.
 * Thread-safety: free, even if another thread is in `get_next`. Does not block.
 */
ARROWDEVICE_API int arrowdevice_stream_cancel(struct ArrowDeviceArrayStream* stream, struct arrowdevice_error* error);

/**
 * Releases a device stream.
 *
 * @param stream  The stream. If it is NULL or released, the call has no effect.
 *
 * Thread-safety: per object. If the library made the stream, the call returns at once.
 */
ARROWDEVICE_API void arrowdevice_stream_release(struct ArrowDeviceArrayStream* stream);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_STREAM_H */
