/* SPDX-License-Identifier: Apache-2.0 */
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

  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;

  void (*release)(struct ArrowSchema*);

  void* private_data;
};

struct ArrowArray {

  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;

  void (*release)(struct ArrowArray*);

  void* private_data;
};

#endif

#ifndef ARROW_C_DEVICE_DATA_INTERFACE
#define ARROW_C_DEVICE_DATA_INTERFACE

typedef int32_t ArrowDeviceType;

#define ARROW_DEVICE_CPU 1

#define ARROW_DEVICE_CUDA 2

#define ARROW_DEVICE_CUDA_HOST 3

#define ARROW_DEVICE_OPENCL 4

#define ARROW_DEVICE_VULKAN 7

#define ARROW_DEVICE_METAL 8

#define ARROW_DEVICE_VPI 9

#define ARROW_DEVICE_ROCM 10

#define ARROW_DEVICE_ROCM_HOST 11

#define ARROW_DEVICE_EXT_DEV 12

#define ARROW_DEVICE_CUDA_MANAGED 13

#define ARROW_DEVICE_ONEAPI 14

#define ARROW_DEVICE_WEBGPU 15

#define ARROW_DEVICE_HEXAGON 16

struct ArrowDeviceArray {

  struct ArrowArray array;

  int64_t device_id;

  ArrowDeviceType device_type;

  void* sync_event;

  int64_t reserved[3];
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {

  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);

  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);

  const char* (*get_last_error)(struct ArrowArrayStream*);

  void (*release)(struct ArrowArrayStream*);

  void* private_data;
};

#endif

#ifndef ARROW_C_DEVICE_STREAM_INTERFACE
#define ARROW_C_DEVICE_STREAM_INTERFACE

struct ArrowDeviceArrayStream {

  ArrowDeviceType device_type;

  int (*get_schema)(struct ArrowDeviceArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowDeviceArrayStream*, struct ArrowDeviceArray* out);
  const char* (*get_last_error)(struct ArrowDeviceArrayStream*);

  void (*release)(struct ArrowDeviceArrayStream*);

  void* private_data;
};

#endif

#ifndef ARROW_C_ASYNC_STREAM_INTERFACE
#define ARROW_C_ASYNC_STREAM_INTERFACE

struct ArrowAsyncTask {

  int (*extract_data)(struct ArrowAsyncTask* self, struct ArrowDeviceArray* out);

  void* private_data;
};

struct ArrowAsyncProducer {

  ArrowDeviceType device_type;

  void (*request)(struct ArrowAsyncProducer* self, int64_t n);

  void (*cancel)(struct ArrowAsyncProducer* self);

  const char* additional_metadata;

  void* private_data;
};

struct ArrowAsyncDeviceStreamHandler {

  int (*on_schema)(struct ArrowAsyncDeviceStreamHandler* self, struct ArrowSchema* stream_schema);

  int (*on_next_task)(struct ArrowAsyncDeviceStreamHandler* self, struct ArrowAsyncTask* task, const char* metadata);

  void (*on_error)(struct ArrowAsyncDeviceStreamHandler* self, int code, const char* message, const char* metadata);

  void (*release)(struct ArrowAsyncDeviceStreamHandler* self);

  struct ArrowAsyncProducer* producer;

  void* private_data;
};

#endif

#ifdef __cplusplus
}
#endif

#endif
