// SPDX-License-Identifier: Apache-2.0
#include "cuda/hardware/application.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <vector>

#include "support/calls.h"

namespace hardware {

using arrowdevice::testing::must;
using arrowdevice::testing::output_of;
using arrowdevice::testing::sized;

bool has(const char* symbol) {
  static void* const library = ::dlopen(drivers::vendor().library, RTLD_NOW);
  return library != nullptr && ::dlsym(library, symbol) != nullptr;
}

bool is_stand_in() { return has("standin_fail_nth"); }

namespace {

void* primary_context() {
  static void* const context = [] {
    void* retained = nullptr;
    must_call("cuDevicePrimaryCtxRetain", &retained, 0);
    return retained;
  }();
  return context;
}

}  // namespace

Current::Current() : is_pushed_(drivers::call("cuCtxPushCurrent_v2", primary_context()) == 0) {}

Current::~Current() {
  void* popped = nullptr;
  if (is_pushed_) drivers::call("cuCtxPopCurrent_v2", &popped);
}

arrowdevice_device* gpu() { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CUDA, int64_t{0}); }

void return_memory() {
  must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
  for (const ArrowDeviceType type : {ARROW_DEVICE_CUDA, ARROW_DEVICE_CUDA_HOST}) {
    auto* const device = output_of(arrowdevice_device_find_by_id, type, int64_t{0});
    must(arrowdevice_pool_trim, output_of(arrowdevice_device_get_pool, device));
  }
}

Memory::Memory(int64_t size, unsigned char value) : size_(size) {
  const Current current;
  must_call("cuMemAlloc_v2", &address_, static_cast<size_t>(size));
  const Stream stream;
  stream.fill(address_, value, size);
  stream.finish();
}

Memory::~Memory() {
  const Current current;
  drivers::call("cuMemFree_v2", address_);
}

bool Memory::is_filled_with(unsigned char value) const {
  std::vector<unsigned char> bytes(static_cast<size_t>(size_));
  const Current current;
  const Stream stream;
  stream.copy(reinterpret_cast<uint64_t>(bytes.data()), address_, size_);
  stream.finish();
  return std::ranges::all_of(bytes, [&](unsigned char byte) { return byte == value; });
}

Stream::Stream() : stream_(drivers::create_stream(0)) {
  auto native = sized<arrowdevice_native_queue>();
  native.queue = stream_;
  queue_ = output_of(arrowdevice_queue_wrap, gpu(), &native);
}

Stream::~Stream() {
  arrowdevice_queue_destroy(queue_);
  const Current current;
  drivers::call("cuStreamSynchronize", stream_);
  drivers::call("cuStreamDestroy_v2", stream_);
}

void Stream::fill(uint64_t address, unsigned char value, int64_t size) const {
  const Current current;
  must_call("cuMemsetD8Async", address, value, static_cast<size_t>(size), stream_);
}

void Stream::copy(uint64_t to, uint64_t from, int64_t size) const {
  const Current current;
  must_call("cuMemcpyAsync", to, from, static_cast<size_t>(size), stream_);
}

void Stream::finish() const {
  const Current current;
  must_call("cuStreamSynchronize", stream_);
}

HostMemory::HostMemory(int64_t size, bool is_pinned) : is_pinned_(is_pinned) {
  if (!is_pinned) {
    pageable_ = std::make_unique_for_overwrite<unsigned char[]>(static_cast<size_t>(size));
    bytes_ = pageable_.get();
    return;
  }
  constexpr unsigned kPortable = 1;
  const Current current;
  void* memory = nullptr;
  must_call("cuMemHostAlloc", &memory, static_cast<size_t>(size), kPortable);
  bytes_ = static_cast<unsigned char*>(memory);
}

HostMemory::~HostMemory() {
  if (!is_pinned_) return;
  const Current current;
  drivers::call("cuMemFreeHost", static_cast<void*>(bytes_));
}

Gate::Gate(Kind kind) : word_(64, true) {
  auto* const word = reinterpret_cast<uint32_t*>(word_.bytes());
  *word = 0;
  const Current current;
  if (kind == Kind::kValue) {
    constexpr unsigned kEqual = 1;
    must_call("cuStreamWaitValue32_v2", stream_.get(), word_.address(), uint32_t{1}, kEqual);
  } else {
    const auto wait = +[](void* user) { static_cast<std::atomic<bool>*>(user)->wait(false); };
    must_call("cuLaunchHostFunc", stream_.get(), wait, static_cast<void*>(&is_open_));
  }
}

Gate::~Gate() {
  open();
  const Current current;
  drivers::call("cuStreamSynchronize", stream_.get());
}

void Gate::open() {
  std::atomic_ref(*reinterpret_cast<uint32_t*>(word_.bytes())).store(1);
  is_open_ = true;
  is_open_.notify_all();
}

void must_not_block(double seconds, const std::function<void()>& unblock, const std::function<void()>& body) {
  auto done = std::async(std::launch::async, body);
  const bool is_blocked = done.wait_for(std::chrono::duration<double>(seconds)) != std::future_status::ready;
  if (is_blocked) unblock();
  done.get();
  if (is_blocked) throw std::runtime_error("the call was blocked until the gate opened");
}

ArrowDeviceArray array_over(void* memory, int64_t rows, void** event, std::atomic<int>* releases) {
  struct Private {
    const void* buffers[2];
    std::atomic<int>* releases;
  };
  auto* const own = new Private{{nullptr, memory}, releases};
  ArrowDeviceArray array{};
  array.device_type = ARROW_DEVICE_CUDA;
  array.sync_event = event;
  array.array.length = rows;
  array.array.n_buffers = 2;
  array.array.buffers = own->buffers;
  array.array.private_data = own;
  array.array.release = [](ArrowArray* released) {
    auto* const mine = static_cast<Private*>(released->private_data);
    if (mine->releases != nullptr) ++*mine->releases;
    delete mine;
    released->release = nullptr;
  };
  return array;
}

const ArrowSchema& bytes_schema() {
  static const ArrowSchema schema = [] {
    ArrowSchema made{};
    made.format = "C";
    made.name = "";
    made.release = [](ArrowSchema*) {};
    return made;
  }();
  return schema;
}

}  // namespace hardware
