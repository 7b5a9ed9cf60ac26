/* SPDX-License-Identifier: Apache-2.0 */
/* Puts an array into the program's own CUDA context, and uses its address on the program's own stream. The program
 * opens the driver at run time, so that the build needs neither CUDA's headers nor a GPU.
 *
 * A program of the runtime API wraps no context, because its context is the GPU's primary one, as the library's is. It
 * calls arrowdevice_device_find_by_id() and wraps its cudaStream_t in the same way. */
#include <arrowdevice/arrowdevice.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 1000

/* The parts of cuda.h that the program needs. */
typedef int CUresult;
typedef int CUdevice;
typedef void* CUcontext;
typedef void* CUstream;
typedef uint64_t CUdeviceptr;
#define CU_STREAM_NON_BLOCKING 1

static struct {
  CUresult (*init)(unsigned flags);
  CUresult (*device_get)(CUdevice* device, int ordinal);
  CUresult (*context_create)(CUcontext* context, unsigned flags, CUdevice device);
  CUresult (*context_destroy)(CUcontext context);
  CUresult (*stream_create)(CUstream* stream, unsigned flags);
  CUresult (*stream_synchronize)(CUstream stream);
  CUresult (*stream_destroy)(CUstream stream);
  CUresult (*copy)(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
} cu;

static void load(void* library, const char* name, void* out) {
  void* symbol = library == NULL ? NULL : dlsym(library, name);
  if (symbol == NULL) {
    fprintf(stderr, "there is no CUDA driver with %s: %s\n", name, dlerror());
    exit(1);
  }
  memcpy(out, &symbol, sizeof symbol);
}

static void open_driver(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  load(library, "cuInit", &cu.init);
  load(library, "cuDeviceGet", &cu.device_get);
  load(library, "cuCtxCreate_v2", &cu.context_create);
  load(library, "cuCtxDestroy_v2", &cu.context_destroy);
  load(library, "cuStreamCreate", &cu.stream_create);
  load(library, "cuStreamSynchronize", &cu.stream_synchronize);
  load(library, "cuStreamDestroy_v2", &cu.stream_destroy);
  load(library, "cuMemcpyAsync", &cu.copy);
}

static int64_t values[ROWS];

static void release_array(struct ArrowArray* array) { array->release = NULL; }
static void release_schema(struct ArrowSchema* schema) { schema->release = NULL; }

static void check(int code, const char* what, const struct arrowdevice_error* error) {
  if (code == 0) return;
  fprintf(stderr, "%s: %s\n", what, error->message);
  exit(1);
}

static void check_cu(CUresult code, const char* what) {
  if (code == 0) return;
  fprintf(stderr, "%s: %d\n", what, code);
  exit(1);
}

int main(void) {
  /* Such a program already has these objects. */
  CUdevice ordinal;
  CUcontext context;
  CUstream stream;
  open_driver();
  check_cu(cu.init(0), "cuInit");
  check_cu(cu.device_get(&ordinal, 0), "cuDeviceGet");
  check_cu(cu.context_create(&context, 0, ordinal), "cuCtxCreate"); /* also makes it current */
  check_cu(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");

  /* Wraps the context as a device and the stream as a queue. Both still belong to the program. */
  struct arrowdevice_error error;
  struct arrowdevice_device* device;
  struct arrowdevice_queue* queue;
  const struct arrowdevice_native_device native_device = {.struct_size = sizeof native_device, .context = context};
  const struct arrowdevice_native_queue native_queue = {.struct_size = sizeof native_queue, .queue = stream};
  check(arrowdevice_device_wrap(ARROW_DEVICE_CUDA, ordinal, &native_device, &device, &error), "arrowdevice_device_wrap",
        &error);
  check(arrowdevice_queue_wrap(device, &native_queue, &queue, &error), "arrowdevice_queue_wrap", &error);

  /* Puts an array from the CPU on the device, with the program's own stream. */
  static const void* buffers[] = {NULL, values};
  const struct ArrowSchema schema = {.format = "l", .name = "", .release = release_schema};
  struct ArrowArray array = {.length = ROWS, .n_buffers = 2, .buffers = buffers, .release = release_array};
  struct ArrowDeviceArray host, there;
  const struct arrowdevice_copy_options options = {
      .struct_size = sizeof options, .flags = ARROWDEVICE_COPY_ASYNC, .queue = queue};
  for (int64_t i = 0; i < ROWS; ++i) values[i] = i;
  check(arrowdevice_array_from_host(&array, &host, &error), "arrowdevice_array_from_host", &error);
  check(arrowdevice_array_to_device(&host, &schema, device, &options, &there, &error), "arrowdevice_array_to_device",
        &error);

  /* Later work on the stream runs after the copy, which may still be pending. */
  int64_t result[ROWS];
  memset(result, 0xff, sizeof result);
  check_cu(
      cu.copy((CUdeviceptr)(uintptr_t)result, (CUdeviceptr)(uintptr_t)there.array.buffers[1], sizeof result, stream),
      "cuMemcpyAsync");
  check_cu(cu.stream_synchronize(stream), "cuStreamSynchronize");
  const int whole = memcmp(result, values, sizeof result) == 0;
  printf("what the program's own stream read is %s\n", whole ? "whole" : "NOT whole");

  /* Afterwards the library holds nothing in the context, and the program may destroy it. */
  arrowdevice_array_release(&there);
  arrowdevice_queue_destroy(queue);
  check(arrowdevice_device_unwrap(device, ARROWDEVICE_NO_TIMEOUT, &error), "arrowdevice_device_unwrap", &error);
  check_cu(cu.stream_destroy(stream), "cuStreamDestroy");
  check_cu(cu.context_destroy(context), "cuCtxDestroy");
  return whole ? 0 : 1;
}
