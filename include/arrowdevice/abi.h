/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file abi.h
 * The structs of the Arrow C interfaces.
 *
 * Every block has the guard that the Arrow format prescribes. This header may therefore be included
 * before or after any other copy of the same definitions.
 *
 * The layouts are those of the format's documents "The Arrow C data interface", "The Arrow C stream
 * interface" and "The Arrow C Device data interface". The asynchronous interface has the layout of
 * Arrow's own libraries: its `ArrowAsyncProducer` has no `release`, unlike the published text.
 */
#ifndef ARROWDEVICE_ABI_H
#define ARROWDEVICE_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  /* Array type description */
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;

  /* Release callback: NULL once released */
  void (*release)(struct ArrowSchema*);
  /* Opaque producer-specific data */
  void* private_data;
};

struct ArrowArray {
  /* Array data description */
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;

  /* Release callback: NULL once released */
  void (*release)(struct ArrowArray*);
  /* Opaque producer-specific data */
  void* private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_DEVICE_DATA_INTERFACE
#define ARROW_C_DEVICE_DATA_INTERFACE

/* Device type of the allocated memory */
typedef int32_t ArrowDeviceType;

/* CPU device, same as using ArrowArray directly */
#define ARROW_DEVICE_CPU 1
/* CUDA GPU device */
#define ARROW_DEVICE_CUDA 2
/* CPU memory pinned by CUDA */
#define ARROW_DEVICE_CUDA_HOST 3
/* OpenCL device: buffers are cl_mem */
#define ARROW_DEVICE_OPENCL 4
/* Vulkan device: buffers are VkBuffer */
#define ARROW_DEVICE_VULKAN 7
/* Metal for Apple GPUs */
#define ARROW_DEVICE_METAL 8
/* Verilog simulator buffer */
#define ARROW_DEVICE_VPI 9
/* AMD GPU driven by ROCm */
#define ARROW_DEVICE_ROCM 10
/* CPU memory pinned by ROCm */
#define ARROW_DEVICE_ROCM_HOST 11
/* Reserved for extension devices, which their producers document */
#define ARROW_DEVICE_EXT_DEV 12
/* CUDA managed memory */
#define ARROW_DEVICE_CUDA_MANAGED 13
/* Unified shared memory of a oneAPI non-partitioned device */
#define ARROW_DEVICE_ONEAPI 14
/* WebGPU */
#define ARROW_DEVICE_WEBGPU 15
/* Qualcomm Hexagon DSP */
#define ARROW_DEVICE_HEXAGON 16

struct ArrowDeviceArray {
  /* The array; only its buffers are on the device */
  struct ArrowArray array;
  /* Id of the device within its type; -1 if the type has no ids */
  int64_t device_id;
  /* The type of device that can use the buffers */
  ArrowDeviceType device_type;
  /* Pointer to the event that fires when the buffers are ready; NULL if they are ready already */
  void* sync_event;
  /* Zeros, set by the producer */
  int64_t reserved[3];
};

#endif /* ARROW_C_DEVICE_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  /* Gets the stream's type. Returns 0 or an errno value. The caller releases the schema */
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  /* Gets the next array; a released one marks the end. Returns 0 or an errno value */
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  /* Describes the last error. The text is valid until the next call and may be NULL */
  const char* (*get_last_error)(struct ArrowArrayStream*);

  /* Release callback: NULL once released */
  void (*release)(struct ArrowArrayStream*);
  /* Opaque producer-specific data */
  void* private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

#ifndef ARROW_C_DEVICE_STREAM_INTERFACE
#define ARROW_C_DEVICE_STREAM_INTERFACE

struct ArrowDeviceArrayStream {
  /* The device type of every array of the stream */
  ArrowDeviceType device_type;
  /* As in ArrowArrayStream */
  int (*get_schema)(struct ArrowDeviceArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowDeviceArrayStream*, struct ArrowDeviceArray* out);
  const char* (*get_last_error)(struct ArrowDeviceArrayStream*);

  /* Release callback: NULL once released */
  void (*release)(struct ArrowDeviceArrayStream*);
  /* Opaque producer-specific data */
  void* private_data;
};

#endif /* ARROW_C_DEVICE_STREAM_INTERFACE */

#ifndef ARROW_C_ASYNC_STREAM_INTERFACE
#define ARROW_C_ASYNC_STREAM_INTERFACE

/* Data that is available: the producer makes it, the consumer extracts it exactly once */
struct ArrowAsyncTask {
  /* Fills `out`, or discards the data if `out` is NULL */
  int (*extract_data)(struct ArrowAsyncTask* self, struct ArrowDeviceArray* out);
  /* Opaque producer-specific data */
  void* private_data;
};

/* The producer's side of back-pressure */
struct ArrowAsyncProducer {
  /* The device type of every array of the stream */
  ArrowDeviceType device_type;
  /* Requests n further arrays, n > 0 */
  void (*request)(struct ArrowAsyncProducer* self, int64_t n);
  /* Asks the producer to stop when it can */
  void (*cancel)(struct ArrowAsyncProducer* self);
  /* Encoded like ArrowSchema.metadata, may be NULL */
  const char* additional_metadata;
  /* Opaque producer-specific data */
  void* private_data;
};

/* The consumer's callbacks, called by the producer one at a time */
struct ArrowAsyncDeviceStreamHandler {
  /* Takes the schema over; the first call */
  int (*on_schema)(struct ArrowAsyncDeviceStreamHandler* self, struct ArrowSchema* stream_schema);
  /* Passes a task for an array that is available; a NULL task marks the end */
  int (*on_next_task)(struct ArrowAsyncDeviceStreamHandler* self, struct ArrowAsyncTask* task, const char* metadata);
  /* Reports that the producer failed; only release follows */
  void (*on_error)(struct ArrowAsyncDeviceStreamHandler* self, int code, const char* message, const char* metadata);

  /* Releases the handler; the last call */
  void (*release)(struct ArrowAsyncDeviceStreamHandler* self);
  /* Filled by the producer before on_schema */
  struct ArrowAsyncProducer* producer;
  /* Opaque handler-specific data */
  void* private_data;
};

#endif /* ARROW_C_ASYNC_STREAM_INTERFACE */

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_ABI_H */
