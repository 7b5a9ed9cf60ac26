// SPDX-License-Identifier: Apache-2.0
// Entry points that only applications call: captures and graphs, gates, fills, and the settings of memory pools. A
// graph holds fills only.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda/calls.h"
#include "sim/handle.h"

using namespace standin::cuda;  // NOLINT: what every line is written with
using standin::Kind;
using standin::violation;

namespace {

struct Fill {
  CUdeviceptr to;
  unsigned char value;
  size_t size;
};
using Graph = std::vector<Fill>;

// Handles with their contents. Ends the process if a handle is unknown.
template <typename Content>
class Handles {
 public:
  void* add(Content content) {
    const std::lock_guard lock(mutex_);
    void* const handle = arrowdevice::sim::new_handle();
    contents_.emplace(handle, std::move(content));
    return handle;
  }
  Content get(void* handle, const char* call) {
    const std::lock_guard lock(mutex_);
    return at(handle, call)->second;
  }
  void remove(void* handle, const char* call) {
    const std::lock_guard lock(mutex_);
    contents_.erase(at(handle, call));
  }

 private:
  auto at(void* handle, const char* call) {
    const auto found = contents_.find(handle);
    if (found == contents_.end()) violation("%s: %p is not alive", call, handle);
    return found;
  }

  std::mutex mutex_;
  std::map<void*, Content> contents_;
};

// The objects outlive all threads.
auto& graphs() {
  static auto* const made = new Handles<Graph>;
  return *made;
}
auto& executables() {
  static auto* const made = new Handles<Graph>;
  return *made;
}

// The fills of the captures in progress, by stream.
struct Recordings {
  std::mutex mutex;
  std::map<void*, Graph> by_stream;
};
Recordings& recordings() {
  static auto* const made = new Recordings;
  return *made;
}

constexpr unsigned kWaitGreaterOrEqual = 0;
constexpr unsigned kWaitEqual = 1;

}  // namespace

EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  BEGIN("cuStreamBeginCapture_v2");
  void* const captured = stream_of(gpus, stream, kCall);
  captures::begin(captured, static_cast<captures::Mode>(mode));
  auto& all = recordings();
  const std::lock_guard lock(all.mutex);
  all.by_stream[captured].clear();
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, void** graph) {
  BEGIN("cuStreamEndCapture");
  *graph = nullptr;
  void* const captured = stream_of(gpus, stream, kCall);
  if (!captures::end(captured)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  auto& all = recordings();
  const std::lock_guard lock(all.mutex);
  *graph = graphs().add(std::move(all.by_stream[captured]));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  BEGIN("cuGraphInstantiateWithFlags");
  if (flags != 0) violation("%s: flags %llu", kCall, flags);
  *executable = executables().add(graphs().get(graph, kCall));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphLaunch(void* executable, CUstream stream) {
  BEGIN("cuGraphLaunch");
  void* const launched = uncaptured_stream_of(gpus, stream, kCall);
  for (const Fill& fill : executables().get(executable, kCall)) gpus.fill(launched, fill.to, fill.value, fill.size);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecDestroy(void* executable) {
  BEGIN("cuGraphExecDestroy");
  executables().remove(executable, kCall);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphDestroy(void* graph) {
  BEGIN("cuGraphDestroy");
  graphs().remove(graph, kCall);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, CUstream stream) {
  BEGIN("cuMemsetD8Async");
  void* const filling = stream_of(gpus, stream, kCall);
  if (captures::status(filling) == captures::kNone) {
    gpus.fill(filling, to, value, size);
    return CUDA_SUCCESS;
  }
  auto& all = recordings();
  const std::lock_guard lock(all.mutex);
  all.by_stream[filling].push_back({to, value, size});
  return CUDA_SUCCESS;
}

// The word must be pinned memory, because a program that waits for device memory may block itself.
EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
  BEGIN("cuStreamWaitValue32_v2");
  if (flags != kWaitGreaterOrEqual && flags != kWaitEqual) violation("%s: flags %u", kCall, flags);
  if (address % sizeof(uint32_t) != 0) violation("%s: %#llx is not aligned", kCall, address);
  const auto found = gpus.find(address);
  if (!found || found->kind != Kind::kPinned) violation("%s: %#llx is no pinned memory", kCall, address);
  auto* const word = reinterpret_cast<uint32_t*>(address);
  const auto wait = [word, value, flags] {
    const auto holds = [&] {
      const uint32_t now = std::atomic_ref(*word).load();
      return flags == kWaitEqual ? now == value : static_cast<int32_t>(now - value) >= 0;
    };
    while (!holds()) std::this_thread::yield();  // a driver polls the word too, and nobody announces a change
  };
  gpus.call_back(uncaptured_stream_of(gpus, stream, kCall), wait, address);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void* user), void* user) {
  BEGIN("cuLaunchHostFunc");
  if (function == nullptr) violation("%s: no function", kCall);
  gpus.call_back(uncaptured_stream_of(gpus, stream, kCall), [function, user] { function(user); });
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  BEGIN("cuDeviceGetDefaultMemPool");
  check_device(gpus, device, kCall);
  if (!gpus.memory_pools()) return CUDA_ERROR_NOT_SUPPORTED;
  *pool = static_cast<CUmemoryPool>(gpus.default_pool(device));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  BEGIN("cuMemPoolGetAttribute");
  if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) violation("%s: attribute %u", kCall, attribute);
  *static_cast<cuuint64_t*>(value) = gpus.pool(pool).threshold;
  return CUDA_SUCCESS;
}

// -- green contexts. The description of their resources is not modelled.

EXPORT CUresult cuGreenCtxCreate(CUgreenCtx* context, void* /*description*/, CUdevice device, unsigned flags) {
  BEGIN("cuGreenCtxCreate");
  check_device(gpus, device, kCall);
  if (flags != 1) violation("%s: flags %u, where CU_GREEN_CTX_DEFAULT_STREAM is required", kCall, flags);
  *context = static_cast<CUgreenCtx>(create_green_context(device));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx context) {
  BEGIN("cuGreenCtxDestroy");
  destroy_green_context(context, kCall);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx context, unsigned flags, int /*priority*/) {
  BEGIN("cuGreenCtxStreamCreate");
  if (flags != CU_STREAM_NON_BLOCKING) violation("%s: flags %u", kCall, flags);
  push(context);
  *stream = static_cast<CUstream>(gpus.create_stream(device_of(context, kCall)));
  made_here(value_of(*stream));
  pop(kCall);
  return CUDA_SUCCESS;
}
