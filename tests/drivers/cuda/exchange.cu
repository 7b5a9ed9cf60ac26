// SPDX-License-Identifier: Apache-2.0
// Exchange with a program of CUDA's runtime that knows only the format's header: its kernel waits for our event, and we wait
// for its event. Built with nvcc by scripts/gpu-check.sh. Ends with `N passed, N failed`.
#include <arrowdevice/arrowdevice.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kRows = 1 << 20;
constexpr long long kDelayCycles = 200'000'000;  // long enough that who does not wait is seen not to

int passed = 0;
int failed = 0;

void check(bool holds, const char* what) {
  std::printf("%s: %s\n", holds ? "passed" : "FAILED", what);
  ++(holds ? passed : failed);
}

void must(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  std::printf("%s: %s\n0 passed, 1 failed\n", call, cudaGetErrorString(result));
  std::exit(1);
}
#define MUST(call) must(call, #call)

void must(int code, const arrowdevice_error& error) {
  if (code == 0) return;
  std::printf("%s\n0 passed, 1 failed\n", error.message);
  std::exit(1);
}

__global__ void twice(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = 2 * in[i];
}

__global__ void late(int* out, int n, long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) out[i] = i;
}

void release_host(ArrowArray* array) {
  std::free(const_cast<void*>(array->buffers[1]));
  std::free(array->buffers);
  array->release = nullptr;
}

// An array of the kRows numbers from 0 on, or over memory of somebody else's.
ArrowArray array_over(void* values, void (*release)(ArrowArray*)) {
  ArrowArray array{};
  array.length = kRows;
  array.n_buffers = 2;
  array.buffers = static_cast<const void**>(std::calloc(2, sizeof(void*)));
  array.buffers[1] = values;
  array.release = release;
  return array;
}

void release_schema(ArrowSchema* schema) { schema->release = nullptr; }

ArrowSchema int32_schema() {
  ArrowSchema schema{};
  schema.format = "i";
  schema.name = "";
  schema.release = release_schema;
  return schema;
}

void our_event_is_waited_for(arrowdevice_device* gpu, cudaStream_t stream) {
  arrowdevice_error error{};
  auto* const values = static_cast<int*>(std::malloc(kRows * sizeof(int)));
  for (int i = 0; i < kRows; ++i) values[i] = i;
  ArrowArray array = array_over(values, release_host);
  const ArrowSchema schema = int32_schema();
  ArrowDeviceArray host{};
  ArrowDeviceArray there{};
  must(arrowdevice_array_from_host(&array, &host, &error), error);
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = ARROWDEVICE_COPY_ASYNC;
  must(arrowdevice_array_to_device(&host, &schema, gpu, &options, &there, &error), error);

  int* doubled = nullptr;
  MUST(cudaMalloc(&doubled, kRows * sizeof(int)));
  if (there.sync_event != nullptr) MUST(cudaStreamWaitEvent(stream, *static_cast<cudaEvent_t*>(there.sync_event), 0));
  twice<<<(kRows + 255) / 256, 256, 0, stream>>>(static_cast<const int*>(there.array.buffers[1]), doubled, kRows);
  std::vector<int> back(kRows);
  MUST(cudaMemcpyAsync(back.data(), doubled, kRows * sizeof(int), cudaMemcpyDeviceToHost, stream));
  MUST(cudaStreamSynchronize(stream));
  bool right = true;
  for (int i = 0; i < kRows; ++i) right = right && back[static_cast<size_t>(i)] == 2 * i;
  check(there.sync_event != nullptr, "an array that is on its way carries an event");
  check(right, "a kernel on a stream of its own reads our array after our event");
  there.array.release(&there.array);
  MUST(cudaFree(doubled));
}

void release_device(ArrowArray* array) {
  std::free(array->buffers);
  array->release = nullptr;
}

void their_event_is_waited_for(cudaStream_t stream) {
  arrowdevice_error error{};
  int* numbers = nullptr;
  MUST(cudaMalloc(&numbers, kRows * sizeof(int)));
  MUST(cudaMemset(numbers, 0xFF, kRows * sizeof(int)));
  cudaEvent_t written = nullptr;
  MUST(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
  late<<<1, 256, 0, stream>>>(numbers, kRows, kDelayCycles);
  MUST(cudaEventRecord(written, stream));

  ArrowDeviceArray array{};
  array.array = array_over(numbers, release_device);
  array.device_type = ARROW_DEVICE_CUDA;
  array.device_id = 0;
  array.sync_event = &written;
  int ready = 1;
  must(arrowdevice_array_is_ready(&array, nullptr, &ready, &error), error);
  check(ready == 0, "an array that is not written yet is not ready");
  const ArrowSchema schema = int32_schema();
  ArrowArray host{};
  must(arrowdevice_array_to_host(&array, &schema, nullptr, &host, &error), error);
  const auto* const values = static_cast<const int*>(host.buffers[1]);
  bool right = true;
  for (int i = 0; i < kRows; ++i) right = right && values[i] == i;
  check(right, "an array of a kernel's is copied after its event");
  host.release(&host);
  MUST(cudaStreamSynchronize(stream));
  MUST(cudaEventDestroy(written));
  MUST(cudaFree(numbers));
}

}  // namespace

int main() {
  arrowdevice_error error{};
  arrowdevice_device* gpu = nullptr;
  MUST(cudaSetDevice(0));
  cudaStream_t stream = nullptr;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  must(arrowdevice_device_find_by_id(ARROW_DEVICE_CUDA, 0, &gpu, &error), error);
  our_event_is_waited_for(gpu, stream);
  their_event_is_waited_for(stream);
  int device = -1;
  MUST(cudaGetDevice(&device));
  check(device == 0 && cudaGetLastError() == cudaSuccess, "the program's device is current, and no error is left");
  MUST(cudaStreamDestroy(stream));
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
