/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arrowdevice.h
 * The C API of libarrowdevice: export, import, move, copy and release Arrow data on any device that a backend drives.
 *
 * Conventions, which hold for every function unless its text says otherwise:
 *
 * - **Result.** 0 or an `errno` value: EINVAL the input is wrong; ENOTSUP the type, layout or device type is not
 *   supported; ENODEV no such driver or device; ENOMEM host or device memory is exhausted (the message says which);
 *   EIO the device failed, now or in earlier work; ETIMEDOUT; ECANCELED; EBUSY; EEXIST; ENOENT. An `Errors:` line says
 *   when; not repeated there are EINVAL for NULL where its text does not allow it and for an input that is released,
 *   ENOMEM of the host, ENODEV for a device that was retired, and what the driver says where one is called, or ENODEV
 *   in its place after `exit` has begun and in a child after `fork`.
 * - **NULL.** Functions without a result do nothing for a NULL object, those that return a pointer return NULL.
 * - **Errors.** `error` may be NULL. It is filled on failure and untouched on success. There is no last-error state.
 * - **Ownership.** A parameter named `moved` is taken over on success and marked released (`release = NULL`); on
 *   failure it still belongs to the caller, untouched. An `inout` array stays valid and gains a co-owner. On failure
 *   of an `out` struct only its `release` is set, to NULL (of an `out` pointer, the pointer); nothing is leaked and
 *   nothing half-built stays behind; what was submitted is drained before the call returns. An `out` that is also an
 *   input is EINVAL. An array or schema in `out` is the caller's, to be released. Everything else is borrowed for the
 *   call: no output depends on the life of a schema, queue or pool that was passed in. Devices need no freeing.
 * - **Options and info.** Structs that start with `struct_size` have it set by the caller, input and output alike.
 *   The library reads or fills the lesser of both sizes, zeroes what it does not know, and leaves `struct_size` as it
 *   is; less than the size of the first release is EINVAL. NULL options and options that are zero after `struct_size`
 *   mean the defaults. Fields named `reserved` are zero.
 * - **Time-outs.** Nanoseconds. A parameter `timeout_ns` waits for ever when negative and polls when 0; in options 0
 *   is the default, for ever.
 * - **Threads.** Functions on different objects, and functions that take `const` objects, may run at the same time on
 *   any threads. One array, queue or view that is being changed belongs to one thread at a time. Where a function's
 *   `Thread-safety:` line says "per object", that is what it means; "free" means from any thread at any time.
 * - **Blocking.** A function waits for device work only where its text says so. Any may take as long as the driver's
 *   calls take.
 * - **Bytes and rows.** Sizes of memory are in bytes, lengths and offsets of arrays in rows.
 * - **Process.** After `exit` has begun, releases free host memory and call no driver. In a child after `fork`, arrays
 *   on the CPU work as before, arrays on devices are let go without calling anyone.
 * - **The format.** An `Implements:` line quotes sections and members of "The Arrow C Device data interface".
 */
#ifndef ARROWDEVICE_ARROWDEVICE_H
#define ARROWDEVICE_ARROWDEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"

#ifdef __cplusplus
static_assert(sizeof(void*) == 8, "libarrowdevice is for 64-bit platforms");
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* some functions have the name of the struct that they fill */
#endif
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

/* Flags of arrowdevice_device_info */
#define ARROWDEVICE_DEVICE_ADDRESSES 1     /* buffers are addresses, else handles */
#define ARROWDEVICE_DEVICE_HOST_READABLE 2 /* the CPU reads and writes its memory in place */
#define ARROWDEVICE_DEVICE_EVENTS 4        /* can publish sync events */
#define ARROWDEVICE_DEVICE_WAIT_BLOCKS 8   /* queue waits may block the CPU */
#define ARROWDEVICE_DEVICE_WRAPPED 16      /* an application's own context */

/* What one device can do with another's memory */
#define ARROWDEVICE_PEER_ACCESS 1 /* use it where it is */
#define ARROWDEVICE_PEER_COPY 2   /* copy it directly; neither: data is staged through the host */

/* Flags of arrowdevice_copy_options */
#define ARROWDEVICE_COPY_ASYNC 1   /* return while the copy runs */
#define ARROWDEVICE_COPY_ALWAYS 2  /* copy even where sharing would do */
#define ARROWDEVICE_COPY_NEVER 4   /* ENOTSUP where sharing will not do */
#define ARROWDEVICE_COPY_NO_TRIM 8 /* do not trim to the slice */

/* Flags of arrowdevice_import_options and arrowdevice_stream_options */
#define ARROWDEVICE_IMPORT_RESOLVE_SIZES 1
#define ARROWDEVICE_STREAM_READ_AHEAD 1

/* Levels of validation */
#define ARROWDEVICE_VALIDATE_STRUCTURE 0 /* the structs */
#define ARROWDEVICE_VALIDATE_FULL 1      /* also the data, wherever it lies */
#define ARROWDEVICE_VALIDATE_STRICT 2    /* also what real producers neglect */

/* Layouts of a foreign ArrowAsyncProducer */
#define ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN 0
#define ARROWDEVICE_ASYNC_LAYOUT_40_BYTES 1
#define ARROWDEVICE_ASYNC_LAYOUT_48_BYTES 2

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
#define ARROWDEVICE_BUFFER_SIZE_KNOWN 1 /* `size` says how many bytes the array uses; else it is 0 and unknown */
#define ARROWDEVICE_BUFFER_HOST 2       /* lies in host memory */

/* Layouts of arrays */
#define ARROWDEVICE_LAYOUT_NULL 0
#define ARROWDEVICE_LAYOUT_FIXED 1 /* also booleans (bit_width 1) and dictionary indices */
#define ARROWDEVICE_LAYOUT_BINARY 2
#define ARROWDEVICE_LAYOUT_LARGE_BINARY 3
#define ARROWDEVICE_LAYOUT_BINARY_VIEW 4
#define ARROWDEVICE_LAYOUT_LIST 5 /* also maps */
#define ARROWDEVICE_LAYOUT_LARGE_LIST 6
#define ARROWDEVICE_LAYOUT_LIST_VIEW 7
#define ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW 8
#define ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST 9
#define ARROWDEVICE_LAYOUT_STRUCT 10
#define ARROWDEVICE_LAYOUT_SPARSE_UNION 11
#define ARROWDEVICE_LAYOUT_DENSE_UNION 12
#define ARROWDEVICE_LAYOUT_RUN_END_ENCODED 13

/**
 * What went wrong: 512 bytes, owned by the caller, nothing to free. Text is UTF-8 and always terminated.
 */
struct arrowdevice_error {
  int32_t code;        /* the errno value that the function returned */
  int32_t native_code; /* the vendor's own code, 0 if none */
  char backend[16];    /* "cuda"; "" when the library itself failed */
  char message[488];   /* "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (8388608 bytes on CUDA 0)" */
};

struct arrowdevice_device;
struct arrowdevice_queue;
struct arrowdevice_pool;
struct arrowdevice_view;
struct arrowdevice_backend;
struct DLManagedTensorVersioned; /* of DLPack, whose header is not needed here */

/**
 * The library's version, "major.minor.patch". Static text.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API const char* arrowdevice_version(void);

/**
 * Send the library's log to a function of the program.
 *
 * Without a handler, messages of level 0 go to standard error and all others nowhere, unless `ARROWDEVICE_LOG` is set
 * to the highest level to print, as a number or by its name.
 *
 * @param log   called with a level (0 error, 1 warning, 2 info, 3 debug) and a line of UTF-8 without a line end, from
 *              any thread; it must not call the library. NULL restores the default.
 * @param user  passed to `log`; must stay valid until the handler has been replaced.
 *
 * Thread-safety: free; a message under way on another thread may still reach the former handler.
 */
ARROWDEVICE_API void arrowdevice_log_set_handler(void (*log)(void* user, int level, const char* message), void* user);

/* -- devices ------------------------------------------------------------------------------------------------------ */

/**
 * A device is a vendor's context with a published `(ArrowDeviceType, device_id)` pair. What a vendor calls a memory
 * kind is a device here: `CUDA_HOST` 0 is the pinned memory of GPU 0. Pointers to devices stay valid as long as the
 * process; there is nothing to free.
 *
 * Nothing of a driver is touched before the first call that names a device of its type.
 */
struct arrowdevice_device_info {
  uint32_t struct_size;
  ArrowDeviceType device_type;
  int64_t device_id;
  char name[128]; /* as the driver calls it */
  char vendor[64];
  char backend[16];             /* name of the backend that drives it */
  uint8_t uuid[16];             /* zeros if unknown; two APIs may name one GPU */
  int64_t total_memory;         /* bytes, -1 if unknown */
  int64_t buffer_alignment;     /* bytes; the start of every allocation has it */
  int64_t sub_buffer_alignment; /* bytes; where a part of an allocation may start */
  uint64_t flags;               /* ARROWDEVICE_DEVICE_* */
  ArrowDeviceType staging_type; /* device type of its pinned host memory, 0 if none */
  int32_t reserved;
};

/**
 * Find a device by its published pair, loading the backend that drives its type if need be.
 *
 * @param device_type  an `ARROW_DEVICE_*` value.
 * @param device_id    0 .. n-1; for the CPU -1 and 0 are one device; -1 means 0 for CUDA_HOST, ROCM_HOST, CUDA_MANAGED.
 * @param out          the device; never an adopted one.
 *
 * Errors: ENODEV no driver or no such device (the message says why; arrowdevice_backend_get_report() has every place
 * looked at); ENOTSUP a device type that neither the format nor any backend knows.
 * Implements: "ArrowDeviceType", "ArrowDeviceArray.device_id".
 * Thread-safety: free. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_device_find_by_id(ArrowDeviceType device_type, int64_t device_id,
                                                  struct arrowdevice_device** out, struct arrowdevice_error* error);

/**
 * How many devices of a type there are; their ids are 0 .. n-1. A type whose driver is absent counts 0.
 *
 * @param device_type  an `ARROW_DEVICE_*` value.
 * @param out          the number; 0 on failure.
 *
 * Errors: ENOTSUP a device type that neither the format nor any backend knows; EIO the driver failed.
 * Thread-safety: free. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_device_count(ArrowDeviceType device_type, int64_t* out,
                                             struct arrowdevice_error* error);

/**
 * All devices of all backends, ordered by type, then id. Loads every backend.
 *
 * @param out       filled with as many devices as fit; may be NULL when `capacity` is 0.
 * @param capacity  the room in `out`, in devices.
 * @param count     how many there are, also when more than `capacity`.
 *
 * A backend that fails is left out; arrowdevice_backend_get_report() says why.
 *
 * Errors: EINVAL a negative capacity.
 * Thread-safety: free. May block while drivers start.
 */
ARROWDEVICE_API int arrowdevice_device_list(struct arrowdevice_device** out, int64_t capacity, int64_t* count,
                                            struct arrowdevice_error* error);

/**
 * What is known of a device. Does not block and calls no driver.
 *
 * @param out  `struct_size` set by the caller; the rest is filled.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_device_get_info(const struct arrowdevice_device* device,
                                                struct arrowdevice_device_info* out, struct arrowdevice_error* error);

/**
 * What the device `to` can do with memory of the device `from`.
 *
 * @param out  a sum of `ARROWDEVICE_PEER_*`, 0 when data between them is staged through the host. From a device to
 *             itself: both.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_device_get_peer_flags(const struct arrowdevice_device* from,
                                                      const struct arrowdevice_device* to, uint32_t* out,
                                                      struct arrowdevice_error* error);

/**
 * Find a device by name, as arrowdevice_device_find_by_id() does by its pair.
 *
 * @param name  the type's name, a colon and the id ("opencl:0", "cuda_host:1"); without an id, id 0 ("cpu").
 * @param out   the device; never an adopted one.
 *
 * Errors: EINVAL a name of another form or an unknown type name; else as arrowdevice_device_find_by_id().
 * Thread-safety: free. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_device_find_by_name(const char* name, struct arrowdevice_device** out,
                                                    struct arrowdevice_error* error);

/**
 * The name of a device type: "opencl". NULL if the format names no such type. Static text.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API const char* arrowdevice_device_type_get_name(ArrowDeviceType device_type);

/**
 * Bytes free and in all, as the driver says now. Either may be -1 where the driver does not say; either out may be
 * NULL.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_device_get_memory_info(const struct arrowdevice_device* device, int64_t* free_bytes,
                                                       int64_t* total_bytes, struct arrowdevice_error* error);

/**
 * What the library has asked of a device since the process began: calls of the driver, not hits of a pool.
 */
struct arrowdevice_device_counters {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t driver_allocations; /* allocations made by the driver */
  int64_t submissions;        /* batches of copies submitted */
  int64_t regions;            /* regions in these batches */
  int64_t events;             /* events recorded */
  int64_t host_waits;         /* times that the CPU waited for an event of this device */
  int64_t readbacks;          /* batches submitted only to learn sizes and ranges */
  int64_t bytes_in;           /* bytes copied to the device */
  int64_t bytes_out;          /* bytes copied from it */
  int64_t staged_bytes;       /* bytes that went through staging memory on the way to or from it */
};

/**
 * Read a device's counters.
 *
 * Thread-safety: free; counts that other threads are adding may or may not be included.
 */
ARROWDEVICE_API int arrowdevice_device_get_counters(const struct arrowdevice_device* device,
                                                    struct arrowdevice_device_counters* out,
                                                    struct arrowdevice_error* error);

/**
 * An application's own context of a device, or the handles behind a device of the library. Each backend documents which
 * field means what; fields without a meaning are zero.
 */
struct arrowdevice_native_device {
  uint32_t struct_size, queue_family, api_version, n_extensions;
  void *platform, *physical_device, *device, *context, *queue, *get_proc_addr;
  const char* const* extensions; /* what the application enabled (Vulkan) */
  const void* features;
  void (*lock)(void* user, void* native_queue); /* guards `queue` where the API wants that; both may be NULL */
  void (*unlock)(void* user, void* native_queue);
  void* lock_user;
};

/**
 * Take an application's own context as a device.
 *
 * @param device_id  the id that its arrays carry (the vendor's ordinal where there is one); several devices may share
 *                   it.
 * @param native     the handles. They are borrowed until the device is retired.
 * @param out        the device. The same handles give the same device, counted: each success is to be undone by one
 *                   arrowdevice_device_unwrap().
 *
 * Errors: ENOTSUP the backend adopts nothing; EINVAL handles that it refuses; ENODEV no such driver; EBUSY another
 * thread is retiring the device.
 * Thread-safety: free. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_device_wrap(ArrowDeviceType device_type, int64_t device_id,
                                            const struct arrowdevice_native_device* native,
                                            struct arrowdevice_device** out, struct arrowdevice_error* error);

/**
 * Undo one arrowdevice_device_wrap(). The last one drains the device's queues, frees what its pools keep and lets the
 * handles go; from then on every call on the device answers ENODEV.
 *
 * Errors: EBUSY arrays, pools or queues of it are alive, or a deferred release calls; ETIMEDOUT its work is not done;
 * ENOTSUP the backend adopts nothing; EINVAL not an adopted one. After each the device is usable, and the call may be
 * made again.
 * Thread-safety: free. Blocks up to `timeout_ns`.
 */
ARROWDEVICE_API int arrowdevice_device_unwrap(struct arrowdevice_device* device, int64_t timeout_ns,
                                              struct arrowdevice_error* error);

/**
 * The vendor's handles behind a device. They are borrowed and stay valid as long as the device.
 *
 * Errors: ENOTSUP the backend has no handles to give.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_device_get_native(const struct arrowdevice_device* device,
                                                  struct arrowdevice_native_device* out,
                                                  struct arrowdevice_error* error);

/* -- backends ----------------------------------------------------------------------------------------------------- */

/**
 * Load a backend from a plugin file.
 *
 * @param absolute_path  the file; anything but an absolute path is EINVAL.
 *
 * Errors: ENOENT no such file; EEXIST a backend of that name or for one of its device types is there already; ENOTSUP
 * another table version; EINVAL not a plugin, or a table that lacks what it must have; what the plugin itself says.
 * Thread-safety: free. No driver is started.
 */
ARROWDEVICE_API int arrowdevice_backend_load(const char* absolute_path, struct arrowdevice_error* error);

/**
 * Register a backend that is linked into the program. Must come before the first use of its device types, since the
 * first backend for a type keeps it.
 *
 * @param table  copied; the functions and texts it points to must stay valid as long as the process.
 *
 * Errors: EEXIST, ENOTSUP, EINVAL as arrowdevice_backend_load().
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_backend_register(const struct arrowdevice_backend* table,
                                                 struct arrowdevice_error* error);

/**
 * One place where a backend was looked for, and what came of it.
 */
struct arrowdevice_backend_report {
  uint32_t struct_size;
  int32_t status;   /* 0 loaded, else the errno value that it was refused with */
  char name[16];    /* the backend, as far as it is known */
  char path[1024];  /* file or folder; "" for one that is built in or registered */
  char reason[488]; /* why it was not used, or what it serves */
};

/**
 * Every place looked at so far, in the order of looking, loaded or not and why not.
 *
 * @param index  counts from 0.
 *
 * Errors: ENOENT past the last.
 * Thread-safety: free; loading on other threads adds to the end.
 */
ARROWDEVICE_API int arrowdevice_backend_get_report(int64_t index, struct arrowdevice_backend_report* out,
                                                   struct arrowdevice_error* error);

/* -- queues ------------------------------------------------------------------------------------------------------- */

/**
 * A vendor's queue: `CUstream`, `hipStream_t`, `cl_command_queue`, a Vulkan queue, an immediate Level Zero list.
 */
struct arrowdevice_native_queue {
  uint32_t struct_size;
  uint32_t family; /* Vulkan: the queue's family */
  void* queue;     /* NULL: the vendor's default stream */
};

/**
 * Make an in-order queue of the library on a device.
 *
 * @param out  to be given to arrowdevice_queue_destroy().
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_queue_create(struct arrowdevice_device* device, struct arrowdevice_queue** out,
                                             struct arrowdevice_error* error);

/**
 * Use an application's own queue. It is borrowed: the application keeps it alive until arrowdevice_queue_destroy() has
 * returned, after which the library never touches it again.
 *
 * @param native  the handle; the struct is read during the call only.
 * @param out     to be given to arrowdevice_queue_destroy().
 *
 * Errors: ENOTSUP the backend wraps no queues; EINVAL a queue that it refuses (out of order, another context).
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_queue_wrap(struct arrowdevice_device* device,
                                           const struct arrowdevice_native_queue* native,
                                           struct arrowdevice_queue** out, struct arrowdevice_error* error);

/**
 * The vendor's handle behind a queue, borrowed until the queue is destroyed.
 *
 * Errors: ENOTSUP the backend has no handle to give.
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_queue_get_native(const struct arrowdevice_queue* queue,
                                                 struct arrowdevice_native_queue* out, struct arrowdevice_error* error);

/**
 * Wait until all work that was given to this queue so far is done. What else a wrapped queue has to do, for the
 * application or by way of another wrap, may be waited for too, but need not be.
 *
 * Errors: ETIMEDOUT it is not done yet; EIO some of it failed.
 * Thread-safety: per object. Blocks up to `timeout_ns`.
 */
ARROWDEVICE_API int arrowdevice_queue_finish(struct arrowdevice_queue* queue, int64_t timeout_ns,
                                             struct arrowdevice_error* error);

/**
 * Let a queue go. Work and events in flight survive.
 *
 * Of a queue that was wrapped, the native one is never touched again once this has returned, and may be destroyed at
 * once: not by arrays that were written or copied on it, not by what is released or freed behind it, not by pools. A
 * stream that was given it goes on on a queue of the library, behind all that was queued so far; where the driver
 * cannot tell the end of that, the stream fails with what the driver says. A stream that was given a queue of the
 * library keeps it.
 *
 * Thread-safety: per object, also while a stream that was given it is at work. Returns at once; of a wrapped queue that
 * a stream uses at that moment, once the driver's or allocator's call with it has returned.
 */
ARROWDEVICE_API void arrowdevice_queue_destroy(struct arrowdevice_queue* queue);

/* -- pools and bytes ---------------------------------------------------------------------------------------------- */

/**
 * How a pool gets, keeps and bounds its memory.
 */
struct arrowdevice_pool_options { /* read during arrowdevice_pool_create() only */
  uint32_t struct_size;
  uint32_t flags;           /* none yet: 0 */
  int64_t max_cached_bytes; /* bytes kept when unused: 0 the default (a quarter of what is free, at most 1 GiB),
                               negative none */
  int64_t max_bytes;        /* bytes in use and kept together: ENOMEM beyond. 0: no cap */
  /**
   * The application's own allocator; NULL: the driver's. Returns 0 or an errno value; from any thread. `native_queue`
   * is not NULL when the memory may be stream-ordered on that queue.
   */
  int (*allocate)(void* user, int64_t size, int64_t alignment, void* native_queue, void** out);
  /**
   * Gives back what `allocate` gave: from any thread, no lock held, never after `exit` has begun.
   */
  void (*deallocate)(void* user, void* buffer, int64_t size, void* native_queue);
  /** Called once, after the last deallocate, from any thread; never after `exit` has begun, in a child by `fork` of the
   * process that made the pool, nor for a pool that arrowdevice_pool_create() refused. May be NULL. */
  void (*destroy)(void* user);
  void* user; /* the pool's from its creation until `destroy` is called */
};

/** A pool's figures, in bytes and counts. */
struct arrowdevice_pool_stats {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t used_bytes;         /* bytes of live buffers */
  int64_t cached_bytes;       /* bytes kept for reuse */
  int64_t peak_bytes;         /* the greatest used + kept so far */
  int64_t allocations;        /* buffers given out */
  int64_t driver_allocations; /* of these, asked of the driver */
};

/**
 * Make a pool of a device's memory. Every device has one already; see arrowdevice_device_get_pool().
 *
 * The call itself calls none of the functions in the options. When it fails, none of them has been called and none ever
 * will be, `destroy` neither: `user` and all else that the options carry are still the caller's, who may try again with
 * them. When it succeeds they are the pool's, until `destroy` gives them back: after arrowdevice_pool_destroy(), once
 * no buffer, stream or device uses the pool any more.
 *
 * @param options  NULL: the defaults. `allocate` and `deallocate` come together.
 * @param out      to be given to arrowdevice_pool_destroy().
 *
 * Errors: EINVAL unknown flags, a negative cap, or one of `allocate` and `deallocate` without the other.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_pool_create(struct arrowdevice_device* device,
                                            const struct arrowdevice_pool_options* options,
                                            struct arrowdevice_pool** out, struct arrowdevice_error* error);

/**
 * Read a pool's figures.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_pool_get_stats(const struct arrowdevice_pool* pool, struct arrowdevice_pool_stats* out,
                                               struct arrowdevice_error* error);

/**
 * Give back to the driver all that is kept and not in use.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_pool_trim(struct arrowdevice_pool* pool, struct arrowdevice_error* error);

/**
 * Let a pool go. Live buffers keep it until the last of them is freed.
 *
 * Thread-safety: free, once.
 */
ARROWDEVICE_API void arrowdevice_pool_destroy(struct arrowdevice_pool* pool);

/**
 * Make a pool the default of its device. The device keeps it alive until another one takes its place.
 *
 * @param pool  NULL: the library's own again.
 *
 * Errors: EINVAL a pool of another device.
 * Thread-safety: free; copies under way keep the pool they started with.
 */
ARROWDEVICE_API int arrowdevice_device_set_pool(struct arrowdevice_device* device, struct arrowdevice_pool* pool,
                                                struct arrowdevice_error* error);

/**
 * A device's default pool.
 *
 * @param out  the pool, borrowed: not to be destroyed by the caller, valid while it is the default.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_device_get_pool(const struct arrowdevice_device* device, struct arrowdevice_pool** out,
                                                struct arrowdevice_error* error);

/**
 * One piece of a copy of bytes. Frozen. A NULL device is host memory; both ends are of one backend, or host memory.
 */
struct arrowdevice_copy_region {
  struct arrowdevice_device* dst_device;
  void* dst;          /* an address or a handle, as the device has them */
  int64_t dst_offset; /* bytes */
  struct arrowdevice_device* src_device;
  const void* src;
  int64_t src_offset; /* bytes */
  int64_t size;       /* bytes; 0: nothing */
  uint64_t reserved;
};

/**
 * Get device memory.
 *
 * @param pool   NULL: the device's default.
 * @param queue  the queue that will use it first; NULL: any.
 * @param size           bytes, more than 0.
 * @param out            an address or a handle, as the device has them; to be given to arrowdevice_buffer_free().
 *
 * Errors: ENOMEM; EINVAL a size that is not positive, or a pool or queue of another device.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_buffer_allocate(struct arrowdevice_device* device, struct arrowdevice_pool* pool,
                                                struct arrowdevice_queue* queue, int64_t size, void** out,
                                                struct arrowdevice_error* error);

/**
 * Give memory of arrowdevice_buffer_allocate() back. Returns at once. What is not such memory is left alone and logged.
 *
 * @param queue  the queue whose work so far still uses it: the memory is used again only after that work.
 *                       NULL: nothing uses it any more.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API void arrowdevice_buffer_free(struct arrowdevice_device* device, struct arrowdevice_queue* queue,
                                             void* buffer);

/**
 * A part of a buffer as a buffer: on devices with addresses the address `offset` bytes on, on devices with handles a
 * sub-buffer.
 *
 * @param buffer  the whole; it outlives its parts.
 * @param offset  bytes, a multiple of the device's `sub_buffer_alignment` where buffers are handles.
 * @param size    bytes, more than 0. Where buffers are addresses, nobody checks that it lies within `buffer`.
 * @param out     to be given to arrowdevice_sub_buffer_destroy().
 *
 * Errors: EINVAL a range or an alignment that will not do.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_sub_buffer_create(struct arrowdevice_device* device, const void* buffer, int64_t offset,
                                                  int64_t size, void** out, struct arrowdevice_error* error);

/**
 * Give a sub-buffer back, before its parent. Does nothing on devices with addresses.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API void arrowdevice_sub_buffer_destroy(struct arrowdevice_device* device, void* sub);

/**
 * Queue copies of bytes, to run after the queue's work so far. Regions of one call may run in any order.
 *
 * @param regions  `n` of them, not needed any more after the call; host memory in them must stay valid until the copies
 *                 are done.
 *
 * Errors: EINVAL a region with a negative size or offset, a NULL end, or a device of another backend than the queue's;
 * after a failure any of the regions may have been copied.
 * Thread-safety: per object. Returns before the copies are done, but on a queue of the CPU.
 */
ARROWDEVICE_API int arrowdevice_queue_copy(struct arrowdevice_queue* queue,
                                           const struct arrowdevice_copy_region* regions, int64_t n,
                                           struct arrowdevice_error* error);

/* -- arrays ------------------------------------------------------------------------------------------------------- */

/**
 * How arrays are copied and moved between devices.
 */
struct arrowdevice_copy_options {
  uint32_t struct_size;
  /**
   * ARROWDEVICE_COPY_ASYNC: return while the copy runs; the result's `sync_event` says when it is done (staged copies,
   * and large ones of pageable memory, occupy the caller until their last piece is submitted; targets without events
   * are waited for).
   * ARROWDEVICE_COPY_ALWAYS (move_to, to_host): copy even where sharing would do.
   * ARROWDEVICE_COPY_NEVER: ENOTSUP where sharing will not do.
   * ARROWDEVICE_COPY_NO_TRIM: do not trim to the slice.
   */
  uint32_t flags;
  /** Of the backend that copies: the target's, or the source's where the target is host memory (the CPU, and what it
   *  reads in place by address, as CUDA_HOST) and the source is not. Where both are, the CPU copies, and it is of
   *  either backend or the CPU's. NULL: the library's own. The copy comes after the queue's work so far; where the CPU
   *  does the copying, it waits for that work. Any other queue is EINVAL, also where the array is shared and nothing is
   *  copied. Not needed any more when the call returns, also with ARROWDEVICE_COPY_ASYNC. */
  struct arrowdevice_queue* queue;
  /** Of the target, else EINVAL; NULL: its default. The copy keeps it. */
  struct arrowdevice_pool* pool;
  /** Overrides what `(device_type, device_id)` of the source would find. One that was adopted is not retired before the
   *  source may go: see arrowdevice_array_copy() and arrowdevice_array_to_device(). */
  struct arrowdevice_device* source_device;
  /** Bounds every wait of the CPU before submission: ETIMEDOUT. 0: for ever. */
  int64_t timeout_ns;
};

/**
 * How a foreign array is taken over.
 */
struct arrowdevice_import_options {
  uint32_t struct_size;
  uint32_t flags; /* ARROWDEVICE_IMPORT_RESOLVE_SIZES: also learn sizes that lie on the device; waits for the array's
                     event */
  /** This queue waits for the array's event. NULL: nobody waits; call arrowdevice_array_wait() or _wait_on(). */
  struct arrowdevice_queue* queue;
  /** Overrides what `(device_type, device_id)` would find. */
  struct arrowdevice_device* source_device;
  int32_t validate; /* a level, ARROWDEVICE_VALIDATE_* */
  int32_t reserved;
  int64_t timeout_ns; /* bounds every wait of the CPU: ETIMEDOUT. 0: for ever */
};

/** One buffer of an imported array. Frozen. */
struct arrowdevice_node_buffer {
  const void* data; /* as in the array: an address or a handle; NULL where the array has none */
  int64_t size;     /* bytes, from the buffer's start to the last one that the array uses */
  uint32_t role;    /* ARROWDEVICE_ROLE_* */
  uint32_t flags;   /* ARROWDEVICE_BUFFER_* */
  uint64_t reserved;
};

/**
 * One node of an imported array: its type and its typed buffers. Frozen. Owned by the view, texts included.
 */
struct arrowdevice_node {
  const char *name, *format, *metadata, *extension_name, *extension_metadata; /* NULL where none */
  int64_t extension_metadata_size;                                            /* bytes */
  int64_t length, offset, null_count, flags;                                  /* rows; flags: ARROW_FLAG_* */
  int32_t layout, n_buffers;                                                  /* ARROWDEVICE_LAYOUT_* */
  int64_t n_children;
  int64_t bit_width, list_size; /* of fixed-width values in bits, of fixed-size lists; else 0 */
  const struct arrowdevice_node_buffer* buffers;
  const struct arrowdevice_node* const* children;
  const struct arrowdevice_node* dictionary; /* NULL where none */
  const struct ArrowArray* array;            /* the struct itself */
  uint64_t reserved[4];
};

/**
 * Make a device array out of buffers that already are on a device. Nothing is copied.
 *
 * @param device              where the buffers are.
 * @param moved               the array whose buffers are on `device`.
 * @param producer_queue  the queue whose work so far writes the buffers: the result's event fires after it. NULL:
 *                            the data is ready.
 * @param out                 the device array; its `reserved` is zero. Its children have lives of their own.
 *
 * Errors: EIO the queue failed.
 * Implements: "The ArrowDeviceArray structure", "Synchronization".
 * Thread-safety: per object. Waits for the queue where the device publishes no events or the queue is of another
 * backend; else does not block.
 */
ARROWDEVICE_API int arrowdevice_array_export(struct arrowdevice_device* device, struct ArrowArray* moved,
                                             struct arrowdevice_queue* producer_queue, struct ArrowDeviceArray* out,
                                             struct arrowdevice_error* error);

/**
 * As arrowdevice_array_export(), with an event that the application recorded itself.
 *
 * @param sync_event     a pointer to the native event, in the form that the format names for the device type.
 * @param event_release  called with the last owner of the array, from any thread, not on failure; NULL: the event
 *                       outlives the array.
 * @param user           passed to `event_release`; must stay valid until then.
 *
 * Errors: EINVAL an event on a device type that has none.
 * Implements: "Synchronization event types".
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_array_export_event(struct arrowdevice_device* device, struct ArrowArray* moved,
                                                   void* sync_event,
                                                   void (*event_release)(void* user, void* sync_event), void* user,
                                                   struct ArrowDeviceArray* out, struct arrowdevice_error* error);

/**
 * The device that an array is on; asks the backend about its buffers and event where the backend can tell.
 *
 * Errors: ENODEV, ENOTSUP as arrowdevice_device_find_by_id().
 * Implements: "ArrowDeviceType", "ArrowDeviceArray.device_id".
 * Thread-safety: free on a `const` array. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_array_get_device(const struct ArrowDeviceArray* array, struct arrowdevice_device** out,
                                                 struct arrowdevice_error* error);

/**
 * Take over a foreign array: check it against its schema and see its typed buffers. Nothing is copied.
 *
 * @param moved    the array; the view owns it until it is detached or released.
 * @param schema   its type, read during the call only.
 * @param options  NULL: structural validation, nobody waits.
 * @param out      the view, to be given to arrowdevice_view_release() or one of its kin.
 *
 * Errors: EINVAL the array does not fit its schema (the message names the child: "batch.prices.item: ..."); ENOTSUP a
 * format that is not known; ENODEV its device is not there; ETIMEDOUT, EIO from a wait.
 * Implements: "Memory management", "Synchronization"; the layouts of the columnar format.
 * Thread-safety: per object. Blocks only with IMPORT_SIZES, where the queue cannot wait on the device, or with a level
 * of `validate` beyond the structure.
 */
ARROWDEVICE_API int arrowdevice_array_import(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                             const struct arrowdevice_import_options* options,
                                             struct arrowdevice_view** out, struct arrowdevice_error* error);

/**
 * The root of the view's tree of nodes. Valid until the view ends.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API const struct arrowdevice_node* arrowdevice_view_get_root(const struct arrowdevice_view* view);

/**
 * The array that the view owns. Valid until the view ends.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API const struct ArrowDeviceArray* arrowdevice_view_get_array(const struct arrowdevice_view* view);

/**
 * The device that the view's array is on.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API struct arrowdevice_device* arrowdevice_view_get_device(const struct arrowdevice_view* view);

/**
 * A second owner of the view's memory, as a device array of its own. Nothing is copied.
 *
 * Implements: "Memory management".
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_view_share(const struct arrowdevice_view* view, struct ArrowDeviceArray* out,
                                           struct arrowdevice_error* error);

/**
 * End the view; the array lives on in `out`, as it came. With a NULL `out` nothing happens.
 *
 * Thread-safety: per object.
 */
ARROWDEVICE_API void arrowdevice_view_detach(struct arrowdevice_view* view, struct ArrowDeviceArray* out);

/**
 * End the view and release its array. Says that the consumer's device work on it is finished.
 *
 * Implements: "Memory management".
 * Thread-safety: per object. Never blocks on device work.
 */
ARROWDEVICE_API void arrowdevice_view_release(struct arrowdevice_view* view);

/**
 * End the view, and release its array once the queue's work so far is done, as arrowdevice_array_release_after() does.
 *
 * @param moved  ended on success; on failure it stays as it was.
 *
 * Errors: EIO the queue failed.
 * Implements: "Memory management".
 * Thread-safety: per object. Returns at once.
 */
ARROWDEVICE_API int arrowdevice_view_release_after(struct arrowdevice_view* moved, struct arrowdevice_queue* queue,
                                                   struct arrowdevice_error* error);

/**
 * Move a device array to another struct: `to` takes over, `from` is marked released. O(1). `to` is overwritten.
 *
 * Implements: "Moving an array".
 * Thread-safety: per object.
 */
ARROWDEVICE_API void arrowdevice_array_move(struct ArrowDeviceArray* from, struct ArrowDeviceArray* to);

/**
 * Release an array; says that the consumer's device work on it is finished. A released one, or NULL, is left alone.
 *
 * Implements: "Memory management".
 * Thread-safety: per object, from any thread. Never blocks on device work of the library.
 */
ARROWDEVICE_API void arrowdevice_array_release(struct ArrowDeviceArray* array);

/**
 * Release an array once the queue's work so far is done. The producer's release runs on the calling thread when that
 * is the case already, else on the library's reaper thread (see arrowdevice_deferred_set_manual()).
 *
 * Errors: EIO the queue failed.
 * Implements: "Memory management".
 * Thread-safety: per object. Returns at once.
 */
ARROWDEVICE_API int arrowdevice_array_release_after(struct ArrowDeviceArray* moved, struct arrowdevice_queue* queue,
                                                    struct arrowdevice_error* error);

/**
 * Whether an array's event has fired. Does not block.
 *
 * @param source_device  overrides what `(device_type, device_id)` would find.
 * @param out             1 fired, or there is none; 0 not yet, and on failure.
 *
 * Errors: EINVAL an event on a device type that has none; ENOTSUP the backend imports no events; EIO the producer's
 * work failed; ENODEV its device is not there.
 * Implements: "Synchronization".
 * Thread-safety: free on a `const` array.
 */
ARROWDEVICE_API int arrowdevice_array_is_ready(const struct ArrowDeviceArray* array,
                                               struct arrowdevice_device* source_device, int* out,
                                               struct arrowdevice_error* error);

/**
 * Make the CPU wait for an array's event.
 *
 * @param source_device  overrides what `(device_type, device_id)` would find.
 *
 * Errors: as arrowdevice_array_is_ready(); ETIMEDOUT it has not fired in time.
 * Implements: "Synchronization".
 * Thread-safety: free on a `const` array. Blocks up to `timeout_ns`.
 */
ARROWDEVICE_API int arrowdevice_array_wait(const struct ArrowDeviceArray* array,
                                           struct arrowdevice_device* source_device, int64_t timeout_ns,
                                           struct arrowdevice_error* error);

/**
 * Make a queue wait for an array's event: work queued later runs after it. Where the queue's device cannot wait for
 * such an event, the CPU waits.
 *
 * @param source_device  overrides what `(device_type, device_id)` would find.
 *
 * Errors: as arrowdevice_array_is_ready().
 * Implements: "Synchronization".
 * Thread-safety: free on a `const` array, per object on the queue. Blocks, without a bound, only where the CPU waits.
 */
ARROWDEVICE_API int arrowdevice_queue_wait_array(struct arrowdevice_queue* queue, const struct ArrowDeviceArray* array,
                                                 struct arrowdevice_device* source_device,
                                                 struct arrowdevice_error* error);

/**
 * Put a copy of an array on a device: one allocation, one submission, one event. Always copies, only the bytes that
 * the array's rows need.
 *
 * @param array    left as it is, and not needed any more when the call returns. With ARROWDEVICE_COPY_ASYNC, if `out`
 * has an event, the caller keeps the array, its buffers, its own event and its device (if that was adopted) until that
 * event has fired; who releases `out` before, until arrowdevice_wait_idle() has succeeded.
 * @param schema   its type, read during the call only.
 * @param options  NULL: complete on return, on a queue of the library, from the target's default pool.
 * @param out      the copy; every child has a life of its own.
 *
 * Errors: EINVAL the array does not fit its schema, unknown or contradicting flags, or a queue or pool that does not
 * fit the devices; ENOTSUP a format that is not known; ENODEV its device is not there; ENOMEM; ETIMEDOUT a wait took
 * longer than the options allow; EIO the producer's work or the copy failed.
 * Implements: "Synchronization"; the layouts of the columnar format.
 * Thread-safety: free on a `const` array. Blocks until the copy is done; with ARROWDEVICE_COPY_ASYNC until it is
 * submitted, for which sizes that lie on a device are waited for.
 */
ARROWDEVICE_API int arrowdevice_array_copy(const struct ArrowDeviceArray* array, const struct ArrowSchema* schema,
                                           struct arrowdevice_device* to,
                                           const struct arrowdevice_copy_options* options, struct ArrowDeviceArray* out,
                                           struct arrowdevice_error* error);

/**
 * Hand an array over to a device: by sharing where that device can use the memory, by a copy where not.
 *
 * @param moved    taken over; where it was copied, released once the copy is done, by the library itself: with
 *                 ARROWDEVICE_COPY_ASYNC, too, the caller keeps nothing. Retiring an adopted source waits for such
 *                 copies; it is EBUSY as long as `out` lives and carries an event of a queue of the source, which it
 *                 does where such a queue was given or `to` is only memory to it (arrowdevice_copy_options.queue).
 * @param schema   its type, read during the call only.
 * @param options  as for arrowdevice_array_copy().
 * @param out      the array on `to`.
 *
 * Errors: as arrowdevice_array_copy(); ENOTSUP also with ARROWDEVICE_COPY_NEVER where sharing will not do.
 * Implements: "Moving an array", "Synchronization".
 * Thread-safety: per object. A copy blocks as arrowdevice_array_copy() does; sharing, where arrays of `to` cannot carry
 * the event, until it has fired.
 */
ARROWDEVICE_API int arrowdevice_array_to_device(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                                struct arrowdevice_device* to,
                                                const struct arrowdevice_copy_options* options,
                                                struct ArrowDeviceArray* out, struct arrowdevice_error* error);

/**
 * A CPU array as a device array: device type CPU, id -1, no event. O(1).
 *
 * Implements: "The ArrowDeviceArray structure".
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_array_from_host(struct ArrowArray* moved, struct ArrowDeviceArray* out,
                                                struct arrowdevice_error* error);

/**
 * A device array as a CPU array, complete on return: shared where the CPU can read the memory, copied where not.
 *
 * @param moved    taken over, as by arrowdevice_array_to_device().
 * @param schema   its type, read during the call only.
 * @param options  as for arrowdevice_array_copy(); ARROWDEVICE_COPY_ASYNC changes nothing.
 *
 * Errors: as arrowdevice_array_to_device().
 * Implements: "Synchronization"; the layouts of the columnar format.
 * Thread-safety: per object. Blocks until the data is there.
 */
ARROWDEVICE_API int arrowdevice_array_to_host(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                              const struct arrowdevice_copy_options* options, struct ArrowArray* out,
                                              struct arrowdevice_error* error);

/**
 * A second owner: two arrays, one memory. `inout` becomes a co-owner itself; its producer's release runs when the last
 * owner, children that were moved out included, is released.
 *
 * Errors: EINVAL an array with a released child.
 * Implements: "Memory management", "Moving an array".
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_array_share(struct ArrowDeviceArray* inout, struct ArrowDeviceArray* out,
                                            struct arrowdevice_error* error);

/**
 * Some rows of an array, as a co-owner of its memory. Reads no data, copies none.
 *
 * @param offset, length  rows, counted from the array's own first row.
 * @param out             a record batch (`+s` without validity at the root) keeps root offset 0: the slice goes into
 *                        its children.
 *
 * Errors: EINVAL rows outside of the array, or an array that does not fit its schema; ENOTSUP a format that is not
 * known.
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_array_slice(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                            int64_t offset, int64_t length, struct ArrowDeviceArray* out,
                                            struct arrowdevice_error* error);

/**
 * Some columns of a struct array or record batch, in the order given, as a co-owner of its memory.
 *
 * @param children    `n` indices; one may appear several times.
 * @param out_schema  the type of `out`, a copy of its own; may be NULL.
 *
 * Errors: EINVAL an index out of range, or an array that is not a struct or does not fit its schema; ENOTSUP a format
 * that is not known.
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_array_select(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                             const int64_t* children, int64_t n, struct ArrowDeviceArray* out,
                                             struct ArrowSchema* out_schema, struct arrowdevice_error* error);

/**
 * Check an array against its schema.
 *
 * @param source_device  overrides what `(device_type, device_id)` would find.
 * @param level           ARROWDEVICE_VALIDATE_STRUCTURE: the structs, without looking at data;
 *                        ARROWDEVICE_VALIDATE_FULL: also the data, wherever it lies: buffers are on the device that
 *                        the array names and as large as its driver says they must be, `null_count` is right, offsets,
 *                        views, type ids, run ends and dictionary indices refer to what is there, prefixes of views
 *                        are those of their data and their unused bytes zero, texts are UTF-8;
 *                        ARROWDEVICE_VALIDATE_STRICT: also what real producers neglect: `reserved` is zero,
 *                        `null_count` is not -1 where there is no validity bitmap, and fields that are not nullable
 *                        have no nulls where rows of the structs and lists around them can be seen.
 *
 * Of host memory nobody knows how large it is: a buffer that is too small is found where a driver made it.
 *
 * Errors: EINVAL an array that does not fit (the message names the child, and the slot), or a level that is none of
 * these; ENOTSUP a format that is not known; beyond the structure also ENODEV its device is not there, EIO from its
 * event or the device, ENOMEM.
 * Implements: "Structure definitions"; the layouts of the columnar format.
 * Thread-safety: free on a `const` array. Beyond the structure it blocks until the array is ready, and while its data
 * is read back, in pieces of 1 MiB.
 */
ARROWDEVICE_API int arrowdevice_array_validate(const struct ArrowDeviceArray* array, const struct ArrowSchema* schema,
                                               struct arrowdevice_device* source_device, int level,
                                               struct arrowdevice_error* error);

/* -- deferred work ------------------------------------------------------------------------------------------------ */

/**
 * Pending moves and releases end on one thread of the library, started at first need. With manual reaping there is no
 * such thread: the program calls arrowdevice_deferred_run().
 *
 * @param on  not 0: manual.
 *
 * Errors: EBUSY something has been deferred already.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_deferred_set_manual(int on, struct arrowdevice_error* error);

/**
 * End deferred work whose events have fired, producers' releases among it, on the calling thread. Does not wait.
 *
 * @param max   how many pieces at most; negative: all.
 * @param done  how many were ended; may be NULL.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_deferred_run(int64_t max, int64_t* done, struct arrowdevice_error* error);

/**
 * Wait until nothing is deferred or in flight: for an orderly shutdown. With manual reaping it reaps meanwhile.
 *
 * Errors: ETIMEDOUT some of it is not done yet, and stays deferred; EBUSY a deferred release calls.
 * Thread-safety: free. Blocks up to `timeout_ns`.
 */
ARROWDEVICE_API int arrowdevice_wait_idle(int64_t timeout_ns, struct arrowdevice_error* error);

/* -- helpers for languages that cannot call C function pointers ---------------------------------------------------- */

/**
 * A deep copy of a schema, independent of the original.
 *
 * Errors: EINVAL a released or malformed schema.
 * Thread-safety: free on a `const` schema.
 */
ARROWDEVICE_API int arrowdevice_schema_copy(const struct ArrowSchema* schema, struct ArrowSchema* out,
                                            struct arrowdevice_error* error);

/**
 * Release a schema. A released one, or NULL, is left alone.
 *
 * Thread-safety: per object.
 */
ARROWDEVICE_API void arrowdevice_schema_release(struct ArrowSchema* schema);

/**
 * Release a CPU array. A released one, or NULL, is left alone.
 *
 * Thread-safety: per object.
 */
ARROWDEVICE_API void arrowdevice_host_array_release(struct ArrowArray* array);

/**
 * The schema of a device stream.
 *
 * Errors: EINVAL a released stream; what the producer says, with its text. What failed in a stream of this library
 * comes whole, `backend` and `native_code` included; an error that has passed through an async handler or a foreign
 * stream has only its code and text.
 * Implements: "ArrowDeviceArrayStream.get_schema".
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_stream_get_schema(struct ArrowDeviceArrayStream* stream, struct ArrowSchema* out,
                                                  struct arrowdevice_error* error);

/**
 * The next array of a device stream; a released one marks the end.
 *
 * Errors: EINVAL a released stream; what the producer says, as arrowdevice_stream_get_schema().
 * Implements: "ArrowDeviceArrayStream.get_next", "get_last_error".
 * Thread-safety: per object. Blocks as the producer does.
 */
ARROWDEVICE_API int arrowdevice_stream_get_next(struct ArrowDeviceArrayStream* stream, struct ArrowDeviceArray* out,
                                                struct arrowdevice_error* error);

/**
 * Release a device stream. A released one, or NULL, is left alone.
 *
 * Thread-safety: per object.
 */
ARROWDEVICE_API void arrowdevice_stream_release(struct ArrowDeviceArrayStream* stream);

/* -- streams --------------------------------------------------------------------------------------------------------
 *
 * A stream that the library hands out is used as the format says: by one thread at a time, and released by its
 * consumer, also early. Its text of an error is valid until the next call on the stream. After an error or the end,
 * every further `get_next` answers the same. */

struct arrowdevice_stream_options {
  uint32_t struct_size;
  /** ARROWDEVICE_STREAM_READ_AHEAD: a thread of the stream calls the producer, started with the first call of the
   *  consumer. Without it, only the consumer's own thread does, within its calls. */
  uint32_t flags;
  /** Batches that are asked of the producer before the oldest of them is handed out; 0: 2. That one is used while the
   *  others are on their way. */
  int32_t depth;
  /** As in arrowdevice_copy_options. ARROWDEVICE_COPY_ASYNC makes no difference: it is always so. */
  uint32_t copy_flags;
  /** As in arrowdevice_copy_options. The stream's own until it is released: the program may destroy it (see
   *  arrowdevice_queue_destroy()) and do nothing else with it. NULL: the library's own. */
  struct arrowdevice_queue* queue;
  /** Of the target. Held until the stream is released. NULL: the target's default. */
  struct arrowdevice_pool* pool;
  /** Overrides what (device_type, device_id) of the batches would find. If it was adopted, the stream does not keep it
   *  from being retired: batches after that are ENODEV. */
  struct arrowdevice_device* source_device;
  /** Nanoseconds; bounds every CPU wait before a submission. 0: for ever. */
  int64_t timeout_ns;
};

/**
 * A stream of `n` arrays of one schema, in their order. The array `moved_arrays` itself stays the caller's; on success
 * the schema and all arrays are taken over, on failure none is. `n` may be 0: a stream of a schema only.
 *
 * Errors: EINVAL an array that does not fit the schema or is not on `device_type`.
 * Implements: "The ArrowDeviceArrayStream structure".
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_stream_from_arrays(struct ArrowSchema* moved, struct ArrowDeviceArray* moved_arrays,
                                                   int64_t n, ArrowDeviceType device_type,
                                                   struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

/**
 * A C stream as a device stream on the CPU. Each call of the consumer is one of the producer.
 *
 * Errors: EINVAL a released stream. Later, from the stream: what the producer says, with its text.
 * Implements: "The ArrowDeviceArrayStream structure".
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_stream_from_host(struct ArrowArrayStream* moved, struct ArrowDeviceArrayStream* out,
                                                 struct arrowdevice_error* error);

/**
 * A device stream as a C stream: each batch is moved to the CPU as arrowdevice_array_to_host() does it, and complete
 * when it is handed out. Copies run on a thread of the stream, ahead of the consumer.
 *
 * Errors: EINVAL a released stream, options, as for arrowdevice_stream_to_device(). Later, from the stream: what the
 * producer says, with its text, after the batches before it; and as arrowdevice_array_to_host().
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_stream_to_host(struct ArrowDeviceArrayStream* moved,
                                               const struct arrowdevice_stream_options* options,
                                               struct ArrowArrayStream* out, struct arrowdevice_error* error);

/**
 * A stream whose batches are moved to a device while they flow, as arrowdevice_array_to_device() does it: what is there
 * already is passed through. Batches are handed out with their event pending. At most `depth` of them are held; nothing
 * is asked of the producer before the first call of the consumer. Copies that occupy their thread (staged ones, targets
 * without events) run on a thread of the stream. Releasing the stream returns at once: what runs is ended as deferred
 * work, and a thread that is inside the producer releases it when it comes back.
 *
 * Errors: EINVAL a released stream, options, a pool of another device than `to`, or a queue that can serve no batch of
 * the stream's device type or the `source_device`, as arrowdevice_copy_options has it; ENODEV a retired device. After
 * each the stream is still the caller's. Later, from the stream: what the producer says, with its text, after the
 * batches before it; EINVAL a batch of another device type than the stream's; and as arrowdevice_array_to_device().
 * Implements: "Device Stream Interface".
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_stream_to_device(struct ArrowDeviceArrayStream* moved, struct arrowdevice_device* to,
                                                 const struct arrowdevice_stream_options* options,
                                                 struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

/**
 * Stop a stream that this library has handed out. `get_next` answers ECANCELED from then on; one that waits for a
 * thread of the stream is woken, one that is itself inside a foreign producer answers when that returns. The stream
 * still has to be released, and not while this runs.
 *
 * Errors: EINVAL a released stream, or one of someone else.
 * Thread-safety: free, also while another thread is in `get_next`. Does not block.
 */
ARROWDEVICE_API int arrowdevice_stream_cancel(struct ArrowDeviceArrayStream* stream, struct arrowdevice_error* error);

/* -- async streams --------------------------------------------------------------------------------------------------
 *
 * Handlers that the library makes are freed by their own release, which the producer calls last; one that was never
 * given to a producer is ended by calling it. `ArrowAsyncProducer` is written in the layout of abi.h; of a foreign one
 * nothing past `cancel` is read, unless `upstream_layout` names its layout.
 *
 * As a producer, the library calls `on_next_task` as often as was requested, the end included, from one thread at a
 * time, and never within `request` or `cancel`. A request of less than one array ends the stream with `on_error`,
 * EINVAL; a cancel and a callback that fails end it with the release alone. A task keeps its producer: `request` and
 * `cancel` may be called until the handler is released, and after that as long as a task is neither extracted nor
 * discarded (extracted into NULL). A task whose `on_next_task` failed is discarded. */

struct arrowdevice_async_options {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  /** Arrays asked of a producer ahead of what is used; 0: 4. */
  int32_t depth;
  /** Of a foreign ArrowAsyncProducer: ARROWDEVICE_ASYNC_LAYOUT_*. Of UNKNOWN the metadata is not read. */
  int32_t upstream_layout;
  /** As in arrowdevice_copy_options. ARROWDEVICE_COPY_ASYNC makes no difference: it is always so. */
  uint32_t copy_flags;
  uint32_t reserved;
  /** As in arrowdevice_stream_options, until the stream is over. */
  struct arrowdevice_queue* queue;
  struct arrowdevice_pool* pool;
  struct arrowdevice_device* source_device;
  /** The program's executor: has `task(arg)` run, never within this call, from any thread; every task that is accepted
   * must run. Any result but 0 refuses the task and ends the stream with it. A stream has one task at a time. NULL: one
   * thread of the stream. */
  int (*submit)(void* user, void (*task)(void* arg), void* arg);
  void* user; /* of `submit` */
};

/**
 * Be the producer: call `handler` with the arrays of a stream, as fast as it asks for them. Both are taken over. The
 * stream is pulled by one task at a time of the executor, which a producer that waits holds up.
 *
 * @param moved    taken over; on failure still the caller's.
 * @param handler  borrowed until its `release` is called, which frees it if the consumer says so. On failure no
 * callback was made.
 * @param options  NULL: the defaults. Only the executor is used.
 *
 * Errors: EINVAL a handler that lacks a callback; what `submit` answers.
 * Implements: "Async Device Stream Interface".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_async_produce(struct ArrowDeviceArrayStream* moved,
                                              struct ArrowAsyncDeviceStreamHandler* handler,
                                              const struct arrowdevice_async_options* options,
                                              struct arrowdevice_error* error);

/**
 * Be the consumer: a handler for a producer, and the stream of what it gets. `depth` arrays are asked for ahead. Tasks
 * are extracted by the thread that pulls. Releasing the stream cancels the producer. A producer on another device type
 * is refused with EINVAL from `on_schema`, and the stream says so.
 *
 * @param device_type  of the arrays.
 * @param out_handler  for the producer; see above for its life.
 * @param out          the caller's to release. `get_schema` and `get_next` wait for the producer;
 *                     arrowdevice_stream_cancel() wakes them.
 *
 * Errors: EINVAL options. Later, from the stream: what the producer says, after the arrays before it; EIO a producer
 * that lets go of the handler before the end.
 * Implements: "The ArrowAsyncDeviceStreamHandler structure".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_async_collect(ArrowDeviceType device_type,
                                              const struct arrowdevice_async_options* options,
                                              struct ArrowAsyncDeviceStreamHandler** out_handler,
                                              struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

/**
 * Be the piece in between: a handler for a producer that hands everything on to another handler, moved to a device as
 * arrowdevice_array_to_device() does it. At most `depth` arrays are held. Arrays are handed on with their event
 * pending; metadata is passed on.
 *
 * @param downstream    the consumer's, borrowed until its `release` is called; on failure untouched.
 * @param out_upstream  for the producer; see above for its life.
 *
 * Errors: EINVAL a handler that lacks a callback, options, a pool or queue that can serve no array on `to`; ENODEV a
 * retired device. Later, by `on_error`: what the producer says; EINVAL, with its schema, where the queue cannot serve
 * the producer's device type; as arrowdevice_array_to_device(); EIO a producer that lets go of the handler before the
 * end.
 * Implements: "The ArrowAsyncDeviceStreamHandler structure".
 * Thread-safety: per object. Does not block.
 */
ARROWDEVICE_API int arrowdevice_async_to_device(struct ArrowAsyncDeviceStreamHandler* downstream,
                                                struct arrowdevice_device* to,
                                                const struct arrowdevice_async_options* options,
                                                struct ArrowAsyncDeviceStreamHandler** out_upstream,
                                                struct arrowdevice_error* error);

/* -- DLPack ---------------------------------------------------------------------------------------------------------
 *
 * Numbers without nulls are exchanged with libraries of tensors, without a copy. An array of integers or floats is a
 * tensor of rank 1, fixed-size lists of them are tensors of higher rank: `+w:3` of `+w:4` of `f`, 10 rows, has the
 * shape 10, 3, 4. Device types have the same numbers in both; ids too, but for 0 in DLPack where the format has one
 * memory for all (the CPU, which is -1 here, CUDA_HOST, ROCM_HOST, CUDA_MANAGED). What maps to what is in
 * docs/dlpack.md. */

/**
 * An array as a tensor of DLPack 1.0, whose consumers need no newer one. The tensor is read-only, compact and
 * row-major, with strides; the array's offset is in `byte_offset`, also where buffers are handles.
 *
 * @param inout           stays valid; becomes a co-owner itself, as by arrowdevice_array_share().
 * @param schema          its type, read during the call only. It may be another one of the same layout: int64 for a
 *                        timestamp, of which DLPack has no dtype.
 * @param consumer_queue  where the tensor is going to be used: work queued later waits for the array's event, as by
 *                        arrowdevice_queue_wait_array(). NULL: the CPU waits.
 * @param out             the tensor, to be given to its `deleter` once, from any thread, which never blocks. Doing so
 *                        says that the consumer's device work on it is finished, as arrowdevice_array_release() does,
 *                        also where there was a waiter: once no other owner is left, the memory is used again.
 *
 * Errors: EINVAL the array does not fit its schema; ENOTSUP it has nulls that rows show, it is of another type than
 * numbers and fixed-size lists of them (booleans are bits here and bytes there), or DLPack knows no such device (the
 * message names the child and says why); else as arrowdevice_queue_wait_array().
 * Implements: "Memory management", "Synchronization".
 * Thread-safety: per object. Blocks where the CPU waits for the event: without a waiter, where the queue cannot wait
 * for it, and to count nulls in a bitmap on a device that nobody has counted.
 */
ARROWDEVICE_API int arrowdevice_dlpack_export(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                              struct arrowdevice_queue* consumer_queue,
                                              struct DLManagedTensorVersioned** out, struct arrowdevice_error* error);

/**
 * A tensor of DLPack 1 as an array: numbers for rank 1 and, as one row, rank 0; fixed-size lists, named "item", for
 * higher ranks. Fields are nullable and have no nulls.
 *
 * @param moved               taken over: its `deleter`, which may be NULL, is called when the last owner of the array
 *                            is released, by that thread or the library's reaper thread. On failure untouched, also
 *                            where it is of another major version. Nobody may write to its memory meanwhile.
 * @param producer_queue  the queue that its producer's work was queued on: arrays carry an event that fires after
 *                            the work so far; where they cannot, it is waited for. NULL: the data is there.
 * @param out_schema          its type.
 *
 * Errors: EINVAL a negative number of dimensions, extent or device id, a missing shape or data, or sizes that overflow;
 * ENOTSUP another major version, a device type or dtype that Arrow does not name (booleans are bytes there and bits
 * here), strides that are not compact and row-major, an extent above 2^31 - 1 behind the first dimension, more than 64
 * dimensions, or, where buffers are handles, a `byte_offset` that is no multiple of an element (the message names the
 * dimension); ENODEV the device is not there, where a queue is given; EIO the queue failed.
 * Implements: "The ArrowDeviceArray structure", "Synchronization".
 * Thread-safety: per object. Blocks only where the queue's work is waited for.
 */
ARROWDEVICE_API int arrowdevice_dlpack_import(struct DLManagedTensorVersioned* moved,
                                              struct arrowdevice_queue* producer_queue, struct ArrowDeviceArray* out,
                                              struct ArrowSchema* out_schema, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif

#endif /* ARROWDEVICE_ARROWDEVICE_H */
