/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ABI of DLPack for capsules of Python. There are versioned and legacy capsules. The library has the versioned
 * struct only.
 */
#ifndef ARROWDEVICE_PYTHON_TENSORS_H
#define ARROWDEVICE_PYTHON_TENSORS_H

#include <arrowdevice/arrowdevice.h>
#include <assert.h>
#include <stdint.h>

#define IS_COPIED 2 /* a flag of versioned_tensor */

struct tensor {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t dtype_code, dtype_bits;
  uint16_t dtype_lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

/* Content of a capsule "dltensor". */
struct legacy_tensor {
  struct tensor tensor;
  void* manager_ctx;
  void (*deleter)(struct legacy_tensor*);
};

/* Content of a capsule "dltensor_versioned", DLManagedTensorVersioned in DLPack. */
struct versioned_tensor {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(struct versioned_tensor*);
  uint64_t flags;
  struct tensor tensor;
};

static_assert(sizeof(struct tensor) == 48, "as in dlpack.h");
static_assert(sizeof(struct legacy_tensor) == 64, "as in dlpack.h");
static_assert(sizeof(struct versioned_tensor) == 80, "as in dlpack.h");

/* DLPackExchangeAPI in DLPack: functions that exchange tensors between packages without a call of Python. */
struct exchange_header {
  uint32_t major, minor;
  struct exchange_header* previous;
};
struct exchange_api {
  struct exchange_header header;
  int (*allocate)(struct tensor* prototype, struct versioned_tensor** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*from_object)(void* object, struct versioned_tensor** out);
  int (*to_object)(struct versioned_tensor* moved, void** object);
  int (*borrow)(void* object, struct tensor* out);
  int (*work_stream)(int32_t device_type, int32_t device_id, void** stream);
};

/* Returns 1 if devices of the type have streams, which DLPack orders work by. The library's queue for the default
 * stream wraps 0. */
int has_streams(int32_t device_type);

/* Returns 1 if the memory is ready when a tensor is given, because the CPU has written it. */
int is_host_memory(int32_t device_type);

/* Returns the functions of this package. The last three parameters are implemented in dlpack.pxi. */
const struct exchange_api* exchange_functions(int (*from_object)(void*, struct versioned_tensor**),
                                              int (*to_object)(struct versioned_tensor*, void**),
                                              int (*borrow)(void*, struct tensor*));

/* A tensor with several owners. */
struct shared_tensor;
/* Returns the first owner, or NULL without memory; the caller then still owns what it gave. The last owner releases
 * `array`, an owner of the tensor's memory, when the work of `queue` so far has finished, and destroys `queue`. Both
 * may be NULL. */
struct shared_tensor* share_tensor(struct versioned_tensor* moved, struct ArrowDeviceArray* array,
                                   struct arrowdevice_queue* queue);
/* Returns a tensor that is one more owner, or NULL without memory. */
struct versioned_tensor* owner_of_shared(struct shared_tensor* shared);
/* Makes a second call of the owner's deleter harmless for a while, see tensors.c. */
void keep_after_end(struct versioned_tensor* owner);
const struct tensor* view_of_shared(const struct shared_tensor* shared);
void drop_shared(struct shared_tensor* shared);

/* Each wraps a foreign tensor by guarded callbacks, see guard.h. Returns NULL without memory; the caller then still
 * owns the tensor. */
struct versioned_tensor* guard_versioned(struct versioned_tensor* moved);
struct versioned_tensor* guard_legacy(struct legacy_tensor* moved);
/* Gives the tensor of a guard back to the caller. */
void unguard(struct versioned_tensor* guard);

/* Converts a tensor for legacy consumers. Returns NULL without memory; the caller then still owns the tensor. */
struct legacy_tensor* as_legacy(struct versioned_tensor* moved);

void delete_versioned(struct versioned_tensor* tensor);
void delete_legacy(struct legacy_tensor* tensor);

#endif
