/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

#include <stdlib.h>
#include <string.h>

#include "guard.h"

void delete_versioned(struct versioned_tensor* tensor) {
  if (tensor != NULL && tensor->deleter != NULL) tensor->deleter(tensor);
}

void delete_legacy(struct legacy_tensor* tensor) {
  if (tensor != NULL && tensor->deleter != NULL) tensor->deleter(tensor);
}

/* The structs that ended last stay readable for a while: some consumers call the deleter of a tensor that they refuse,
 * and so does the capsule that it came in. The second call finds no manager_ctx. */
enum { kept_structs = 64 };
static void* ended[kept_structs];
static unsigned ended_count;

static void keep_ended(void* tensor) {
  const unsigned place = __atomic_fetch_add(&ended_count, 1, __ATOMIC_RELAXED) % kept_structs;
  free(__atomic_exchange_n(&ended[place], tensor, __ATOMIC_ACQ_REL));
}

static void delete_guarded_versioned(struct versioned_tensor* tensor) {
  if (!guard_enter()) return;
  delete_versioned(tensor->manager_ctx);
  guard_leave();
  free(tensor);
}

struct versioned_tensor* guard_versioned(struct versioned_tensor* moved) {
  struct versioned_tensor* const tensor = malloc(sizeof *tensor);
  if (tensor == NULL) return NULL;
  *tensor = *moved;
  tensor->manager_ctx = moved;
  tensor->deleter = delete_guarded_versioned;
  return tensor;
}

void unguard(struct versioned_tensor* guard) { free(guard); }

static void delete_guarded_legacy(struct versioned_tensor* tensor) {
  if (!guard_enter()) return;
  delete_legacy(tensor->manager_ctx);
  guard_leave();
  free(tensor);
}

struct versioned_tensor* guard_legacy(struct legacy_tensor* moved) {
  struct versioned_tensor* const tensor = malloc(sizeof *tensor);
  if (tensor == NULL) return NULL;
  *tensor = (struct versioned_tensor){
      .major = 1, .manager_ctx = moved, .deleter = delete_guarded_legacy, .tensor = moved->tensor};
  return tensor;
}

static void delete_as_legacy(struct legacy_tensor* tensor) {
  void* const moved = __atomic_exchange_n(&tensor->manager_ctx, NULL, __ATOMIC_ACQ_REL);
  if (moved == NULL) return;
  delete_versioned(moved);
  keep_ended(tensor);
}

struct legacy_tensor* as_legacy(struct versioned_tensor* moved) {
  struct legacy_tensor* const tensor = malloc(sizeof *tensor);
  if (tensor == NULL) return NULL;
  *tensor = (struct legacy_tensor){.tensor = moved->tensor, .manager_ctx = moved, .deleter = delete_as_legacy};
  return tensor;
}

struct shared_tensor {
  struct versioned_tensor* tensor;
  int64_t owners;
  struct ArrowDeviceArray array;
  struct arrowdevice_queue* queue;
};

struct shared_tensor* share_tensor(struct versioned_tensor* moved, struct ArrowDeviceArray* array,
                                   struct arrowdevice_queue* queue) {
  struct shared_tensor* const shared = malloc(sizeof *shared);
  if (shared == NULL) return NULL;
  *shared = (struct shared_tensor){.tensor = moved, .owners = 1, .queue = queue};
  if (array != NULL) {
    shared->array = *array;
    array->array.release = NULL;
  }
  return shared;
}

/* The consumer's kernels may still run on the default stream. Without memory for a later release, waits for them. */
static void release_behind(struct ArrowDeviceArray* array, struct arrowdevice_queue* queue) {
  if (arrowdevice_array_release_after(array, queue, NULL) != 0) {
    arrowdevice_queue_finish(queue, ARROWDEVICE_NO_TIMEOUT, NULL);
    arrowdevice_array_release(array);
  }
  arrowdevice_queue_destroy(queue);
}

void drop_shared(struct shared_tensor* shared) {
  if (shared == NULL || __atomic_sub_fetch(&shared->owners, 1, __ATOMIC_ACQ_REL) != 0) return;
  delete_versioned(shared->tensor);
  if (shared->queue != NULL) release_behind(&shared->array, shared->queue);
  free(shared);
}

static void delete_owner(struct versioned_tensor* tensor) {
  drop_shared(tensor->manager_ctx);
  free(tensor);
}

static void delete_kept_owner(struct versioned_tensor* tensor) {
  struct shared_tensor* const shared = __atomic_exchange_n(&tensor->manager_ctx, NULL, __ATOMIC_ACQ_REL);
  if (shared == NULL) return;
  drop_shared(shared);
  keep_ended(tensor);
}

struct versioned_tensor* owner_of_shared(struct shared_tensor* shared) {
  struct versioned_tensor* const tensor = malloc(sizeof *tensor);
  if (tensor == NULL) return NULL;
  __atomic_add_fetch(&shared->owners, 1, __ATOMIC_RELAXED);
  *tensor = *shared->tensor;
  tensor->manager_ctx = shared;
  tensor->deleter = delete_owner;
  return tensor;
}

void keep_after_end(struct versioned_tensor* owner) { owner->deleter = delete_kept_owner; }

const struct tensor* view_of_shared(const struct shared_tensor* shared) { return &shared->tensor->tensor; }

int has_streams(int32_t device_type) {
  return device_type == ARROW_DEVICE_CUDA || device_type == ARROW_DEVICE_CUDA_MANAGED ||
         device_type == ARROW_DEVICE_ROCM;
}

int is_host_memory(int32_t device_type) {
  return device_type == ARROW_DEVICE_CPU || device_type == ARROW_DEVICE_CUDA_HOST ||
         device_type == ARROW_DEVICE_ROCM_HOST;
}

/* A tensor of new memory. Its shape and strides follow. */
struct made_tensor {
  struct versioned_tensor tensor;
  struct arrowdevice_device* device;
  struct arrowdevice_queue* queue; /* the default stream, where the consumer works, or NULL */
  int64_t sizes[];
};

static void delete_made(struct versioned_tensor* tensor) {
  struct made_tensor* const made = tensor->manager_ctx;
  arrowdevice_buffer_free(made->device, made->queue, tensor->tensor.data);
  arrowdevice_queue_destroy(made->queue);
  free(made);
}

/* Returns the size in bytes, or -1 if it is too large or the shape is wrong. Sets compact strides. */
static int64_t lay_out(struct tensor* tensor) {
  int64_t elements = 1;
  for (int32_t i = tensor->ndim; i-- > 0;) {
    tensor->strides[i] = elements;
    if (tensor->shape[i] < 0 || __builtin_mul_overflow(elements, tensor->shape[i], &elements)) return -1;
  }
  int64_t bits = 0;
  if (__builtin_mul_overflow(elements, (int64_t)tensor->dtype_bits * tensor->dtype_lanes, &bits)) return -1;
  return bits / 8 + (bits % 8 != 0);
}

static int allocate(struct tensor* prototype, struct versioned_tensor** out, void* context,
                    void (*set_error)(void* context, const char* kind, const char* message)) {
  struct arrowdevice_error error;
  *out = NULL;
  const size_t n = prototype->ndim > 0 ? (size_t)prototype->ndim : 0;
  struct made_tensor* const made = malloc(sizeof *made + 2 * n * sizeof made->sizes[0]);
  if (made == NULL) {
    set_error(context, "MemoryError", "there is no memory for a tensor");
    return -1;
  }
  made->tensor =
      (struct versioned_tensor){.major = 1, .manager_ctx = made, .deleter = delete_made, .tensor = *prototype};
  struct tensor* const tensor = &made->tensor.tensor;
  if (n > 0) memcpy(made->sizes, prototype->shape, n * sizeof made->sizes[0]);
  tensor->shape = made->sizes;
  tensor->strides = made->sizes + n;
  tensor->byte_offset = 0;
  const int64_t size = lay_out(tensor);
  if (size < 0) {
    set_error(context, "ValueError", "the shape of the prototype is not valid");
    free(made);
    return -1;
  }
  int code = arrowdevice_device_find_by_id(tensor->device_type, tensor->device_id, &made->device, &error);
  const struct arrowdevice_native_queue default_stream = {.struct_size = sizeof default_stream};
  made->queue = NULL;
  if (code == 0 && has_streams(tensor->device_type)) {
    code = arrowdevice_queue_wrap(made->device, &default_stream, &made->queue, &error);
  }
  if (code == 0) {
    code = arrowdevice_buffer_allocate(made->device, NULL, made->queue, size > 0 ? size : 1, &tensor->data, &error);
  }
  if (code != 0) {
    set_error(context, "BufferError", error.message);
    arrowdevice_queue_destroy(made->queue);
    free(made);
    return -1;
  }
  *out = &made->tensor;
  return 0;
}

/* Arrays are ready when they leave, so work on any stream can use them. */
static int no_stream(int32_t device_type, int32_t device_id, void** stream) {
  (void)device_type;
  (void)device_id;
  *stream = NULL;
  return 0;
}

const struct exchange_api* exchange_functions(int (*from_object)(void*, struct versioned_tensor**),
                                              int (*to_object)(struct versioned_tensor*, void**),
                                              int (*borrow)(void*, struct tensor*)) {
  static struct exchange_api api = {.header = {.major = 1, .minor = 3}, .allocate = allocate, .work_stream = no_stream};
  api.from_object = from_object;
  api.to_object = to_object;
  api.borrow = borrow;
  return &api;
}
