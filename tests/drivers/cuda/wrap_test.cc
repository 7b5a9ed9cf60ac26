// SPDX-License-Identifier: Apache-2.0
// Tests the table of the CUDA backend with contexts that an application creates. Each case has its own process. The
// stand-in refuses to destroy a context while objects are left in it.
#include <arrowdevice/arrowdevice.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "drivers/cuda/own_context.h"
#include "drivers/table.h"
#include "support/catch.h"
#include "support/variable.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with
using drivers::wrap;
using drivers::cuda::Context;
using drivers::cuda::handles_of;
using drivers::cuda::must_cuda;

constexpr ArrowDeviceType kTypes[] = {ARROW_DEVICE_CUDA, ARROW_DEVICE_CUDA_HOST, ARROW_DEVICE_CUDA_MANAGED};
constexpr int64_t kSize = 4096;

void* gpu(int64_t id) { return drivers::open(ARROW_DEVICE_CUDA, id); }

void* wrap(ArrowDeviceType type, int64_t id, void* context) { return drivers::wrap(type, id, handles_of(context)); }

std::string wrapping_refused(int code, int64_t id, void* context) {
  const arrowdevice_native_device native = handles_of(context);
  void* device = nullptr;
  return must_fail_once(code, table().device_wrap, ARROW_DEVICE_CUDA, id, &native, &device);
}

std::string wrapping_refused(void* device, void* stream) {
  auto native = sized<arrowdevice_native_queue>();
  native.queue = stream;
  void* queue = nullptr;
  return must_fail_once(EINVAL, table().queue_wrap, device, &native, &queue);
}

uint32_t reach(void* from, void* to) { return output_of(table().device_get_peer_flags, from, to); }

// Frees memory behind a pending copy to memory of the application, and destroys its queue. The unwrap waits for the
// copy.
void unwrap_while_work_is_pending(const Context& mine, void* device) {
  uint64_t target = 0;
  mine.run("cuMemAlloc_v2", &target, static_cast<size_t>(kSize));
  const int64_t before = drivers::live_allocations();
  void* const memory = allocate(device, kSize);
  void* const queue = create_queue(device);
  drivers::hold();
  copy(queue, region(nullptr, reinterpret_cast<void*>(target), device, memory, kSize));
  table().buffer_free(device, queue, memory);
  table().queue_destroy(queue);
  expect(drivers::live_allocations() == before + 1, "memory was freed while work on it was pending");

  const int64_t waits = calls("cuEventSynchronize");
  std::atomic<bool> is_unwrapped{false};
  std::thread unwrapping([&] {
    must(table().device_unwrap, device);
    is_unwrapped = true;
  });
  while (calls("cuEventSynchronize") == waits && !is_unwrapped) std::this_thread::yield();
  expect(!is_unwrapped, "a device was unwrapped while work on its memory was pending");
  drivers::resume();
  unwrapping.join();
  expect(drivers::live_allocations() == before, "memory was left in the context");
  mine.run("cuMemFree_v2", target);
}

TEST_CASE("a wrapped context is one counted device of each type, and unwrapping empties it") {
  CHECK(in_own_process([] {
          const Context mine(1);
          for (const ArrowDeviceType type : kTypes) {
            for (int round = 0; round < 2; ++round) {  // the context may be wrapped again
              void* const wrapped = wrap(type, 1, mine.get());
              expect(wrap(type, 1, mine.get()) == wrapped, "the same handles gave another device");
              expect(wrapped != drivers::open(type, 1), "it is the library's own device");
              arrowdevice_native_device shown{};
              must(table().device_get_native, wrapped, &shown);
              expect(shown.context == mine.get(), "another context came back");
              const auto work = std::make_unique<Pending>(wrapped, kSize);
              expect(locate(type, 1, work->memory()) == wrapped, "its memory was found elsewhere");
            }
            void* const wrapped = wrap(type, 1, mine.get());
            for (int left = 4; left > 0; --left) must(table().device_unwrap, wrapped);
            unwrap_while_work_is_pending(mine, wrapped);
            must_fail_once(EINVAL, table().device_unwrap, wrapped);
          }
          expect(calls("cuDevicePrimaryCtxRetain") == 0, "a context was made that nobody had asked for");
        }) == "");
}

TEST_CASE("threads that wrap a context at the same time get one device") {
  CHECK(in_own_process([] {
          constexpr size_t kThreads = 8;
          gpu(0);
          const Context mine(1);
          const char* const kAsked = "cuDeviceGetName";  // for a device that is not known yet
          const int64_t asked = calls(kAsked);
          drivers::hold_call(kAsked);
          std::atomic<size_t> begun = 0;
          void* wrapped[kThreads] = {};
          std::vector<std::thread> threads;
          for (void*& one : wrapped) {
            threads.emplace_back([&] {
              ++begun;
              one = wrap(ARROW_DEVICE_CUDA, 1, mine.get());
            });
          }
          while (begun < kThreads || calls(kAsked) == asked) std::this_thread::yield();
          drivers::hold_call("");
          for (std::thread& thread : threads) thread.join();
          expect(std::ranges::count(wrapped, wrapped[0]) == kThreads, "the threads got several devices");
          for (size_t left = kThreads; left > 0; --left) must(table().device_unwrap, wrapped[0]);
          must_fail_once(EINVAL, table().device_unwrap, wrapped[0]);
        }) == "");
}

TEST_CASE("unwrapping waits for queries of memory in the context") {
  constexpr auto kLongEnough = std::chrono::milliseconds(50);  // longer than a call that does not wait
  CHECK(in_own_process([&] {
          const Pending work(gpu(0));
          const Context mine(0);
          void* const device = wrap(ARROW_DEVICE_CUDA, 0, mine.get());
          const int64_t before = calls("cuPointerGetAttributes");
          drivers::hold_call("cuPointerGetAttributes");
          std::thread asking([&] { expect(locate(ARROW_DEVICE_CUDA, 0, work.memory()) == gpu(0), "found elsewhere"); });
          while (calls("cuPointerGetAttributes") == before) std::this_thread::yield();
          std::atomic<bool> is_unwrapped{false};
          std::thread unwrapping([&] {
            must(table().device_unwrap, device);
            is_unwrapped = true;
          });
          const auto end = std::chrono::steady_clock::now() + kLongEnough;
          while (!is_unwrapped && std::chrono::steady_clock::now() < end) std::this_thread::yield();
          const bool was_early = is_unwrapped;
          drivers::hold_call("");
          asking.join();
          unwrapping.join();
          expect(!was_early, "it was unwrapped while it was current on another thread");
        }) == "");
}

TEST_CASE("the primary context is the device that has it already") {
  CHECK(in_own_process([] {
          const Pending work(gpu(1));
          arrowdevice_native_device shown{};
          must(table().device_get_native, gpu(1), &shown);
          expect(wrap(ARROW_DEVICE_CUDA, 1, shown.context) == gpu(1), "it is another device");
          must(table().device_unwrap, gpu(1));
          must_fail_once(EINVAL, table().device_unwrap, gpu(1));
          const Pending more(gpu(1));  // as usable as before
          // The backend has released the primary context, which it retained only to compare it.
          const Context mine(0);
          void* primary = nullptr;
          must_cuda(call("cuDevicePrimaryCtxRetain", &primary, 0), "cuDevicePrimaryCtxRetain");
          must(table().device_unwrap, wrap(ARROW_DEVICE_CUDA, 0, mine.get()));
          must_cuda(call("cuDevicePrimaryCtxRelease", 0), "cuDevicePrimaryCtxRelease");
          unsigned flags = 0;
          int is_active = 1;
          must_cuda(call("cuDevicePrimaryCtxGetState", 0, &flags, &is_active), "cuDevicePrimaryCtxGetState");
          expect(is_active == 0, "the primary context was kept");
        }) == "");
}

TEST_CASE("handles that are not a context of the given GPU are refused with the reason") {
  CHECK(in_own_process([] {
          const Context mine(0);
          int nothing = 0;
          expect(contains(wrapping_refused(EINVAL, 0, nullptr), "`context`"), "a message without the field");
          const std::string no_context = wrapping_refused(EINVAL, 0, &nothing);
          expect(contains(no_context, "CUDA_ERROR_INVALID_CONTEXT"), no_context);
          const std::string other_gpu = wrapping_refused(EINVAL, 1, mine.get());
          expect(contains(other_gpu, "of GPU 0") && contains(other_gpu, "GPU 1"), other_gpu);
          wrapping_refused(ENODEV, 2, mine.get());
          must_fail_once(EINVAL, table().device_unwrap, gpu(0));
        }) == "");
}

TEST_CASE("an application's memory is found in its context, if that is wrapped") {
  CHECK(in_own_process([] {
          const Context mine(0), other(0);
          void *of_mine = nullptr, *of_other = nullptr, *of_pool = nullptr, *pinned = nullptr;
          void* const stream = mine.create_stream();
          mine.run("cuMemAlloc_v2", &of_mine, size_t{kSize});
          other.run("cuMemAlloc_v2", &of_other, size_t{kSize});
          mine.run("cuMemAllocAsync", &of_pool, size_t{kSize}, stream);
          mine.run("cuMemHostAlloc", &pinned, size_t{kSize}, 1u);
          expect(locate(ARROW_DEVICE_CUDA, 0, of_mine) == gpu(0), "memory of a context that is not wrapped");

          void* const wrapped = wrap(ARROW_DEVICE_CUDA, 0, mine.get());
          void* const wrapped_pinned = wrap(ARROW_DEVICE_CUDA_HOST, 0, mine.get());
          expect(locate(ARROW_DEVICE_CUDA, 0, of_mine) == wrapped, "memory of a wrapped context");
          expect(locate(ARROW_DEVICE_CUDA, 0, of_other) == gpu(0), "memory of another context");
          expect(locate(ARROW_DEVICE_CUDA, 0, of_pool) == gpu(0), "memory of the GPU's pool, which is of no context");
          expect(locate(ARROW_DEVICE_CUDA, 0, nullptr) == gpu(0), "no memory");
          expect(locate(ARROW_DEVICE_CUDA, 0, &wrapped) == gpu(0), "memory that the driver does not know");
          expect(locate(ARROW_DEVICE_CUDA_HOST, 0, pinned) == wrapped_pinned, "pinned memory");
          expect(locate(ARROW_DEVICE_CUDA, 1, nullptr) == gpu(1), "another GPU");
          must(table().device_unwrap, wrapped);
          must(table().device_unwrap, wrapped_pinned);
          expect(locate(ARROW_DEVICE_CUDA, 0, of_mine) == gpu(0), "memory of a context that is not wrapped any more");

          mine.run("cuMemFreeAsync", of_pool, stream);
          mine.run("cuStreamSynchronize", stream);
          mine.run("cuStreamDestroy_v2", stream);
          mine.run("cuMemFree_v2", of_mine);
          mine.run("cuMemFreeHost", pinned);
          other.run("cuMemFree_v2", of_other);
        }) == "");
}

TEST_CASE("streams are wrapped only on the device of their context") {
  CHECK(in_own_process([] {
          const Context mine(0);
          void* const theirs = mine.create_stream();
          void* const of_primary = drivers::create_stream(0);
          void* const wrapped = wrap(ARROW_DEVICE_CUDA, 0, mine.get());
          for (void* const stream : {static_cast<void*>(nullptr), reinterpret_cast<void*>(1), theirs}) {
            void* const queue = wrap(wrapped, stream);
            finish(queue);
            table().queue_destroy(queue);
          }
          for (const std::string& message : {wrapping_refused(gpu(0), theirs), wrapping_refused(wrapped, of_primary)}) {
            expect(contains(message, "wrapped with its context"), message);
          }
          must(table().device_unwrap, wrapped);
          mine.run("cuStreamDestroy_v2", theirs);
          drivers::destroy_stream(0, of_primary);
        }) == "");
}

TEST_CASE("a stream of a green context is one of the primary context's device") {
  const auto wrap_stream_of_green_context = [] {
    void* const device = drivers::open(ARROW_DEVICE_CUDA, 0);
    void* green = nullptr;
    expect(call("cuGreenCtxCreate", &green, static_cast<void*>(nullptr), 0, 1U) == 0, "no green context");
    void* stream = nullptr;
    expect(call("cuGreenCtxStreamCreate", &stream, green, 1U, 0) == 0, "no stream");
    if (calls("cuStreamGetCtx_v2") > 0) throw std::runtime_error("asked too early");
    auto native = sized<arrowdevice_native_queue>();
    native.queue = stream;
    void* queue = nullptr;
    arrowdevice_error error{};
    const int code = table().queue_wrap(device, &native, &queue, &error);
    if (code == 0) {
      void* const memory = allocate(device, kSize);
      copy(queue, region(device, static_cast<char*>(memory) + kSize / 2, device, memory, kSize / 2));
      finish(queue);
      free_memory(device, memory);
      table().queue_destroy(queue);
    }
    drivers::destroy_stream(0, stream);
    expect(call("cuGreenCtxDestroy", green) == 0, "the green context is in use");
    if (code != 0) throw std::runtime_error(error.message);
  };
  CHECK(in_own_process(wrap_stream_of_green_context) == "");
  // Before CUDA 12.5 the driver names the green context only.
  const arrowdevice::testing::Variable older("STANDIN_DRIVER_VERSION", "12040");
  CHECK(contains(in_own_process(wrap_stream_of_green_context),
                 "wrap it on the device that was wrapped with its context"));
}

TEST_CASE("contexts copy and wait across each other, and have no access in place") {
  CHECK(in_own_process([] {
          const Context mine(0), other(0);
          void* const a = wrap(ARROW_DEVICE_CUDA, 0, mine.get());
          void* const b = wrap(ARROW_DEVICE_CUDA, 0, other.get());
          expect(reach(a, b) == ARROWDEVICE_PEER_COPY, "contexts of one GPU");
          expect(reach(a, gpu(0)) == ARROWDEVICE_PEER_COPY, "the primary context of the same GPU");
          expect(reach(gpu(1), a) == ARROWDEVICE_PEER_COPY, "another GPU");
          expect((reach(drivers::open(ARROW_DEVICE_CUDA_HOST, 0), a) & ARROWDEVICE_PEER_ACCESS) != 0, "pinned memory");

          const std::vector<char> sent(kSize, 'a');
          std::vector<char> received(kSize);
          void* const path[] = {a, b, gpu(0), a, gpu(1), a};
          std::vector<void*> memory, queues;
          for (void* const device : path) {
            memory.push_back(allocate(device, kSize));
            queues.push_back(create_queue(device));
          }
          copy(queues[0], region(a, memory[0], nullptr, sent.data(), kSize));
          for (size_t i = 1; i < std::size(path); ++i) {
            void* const event = record(queues[i - 1]);
            must(table().queue_wait_event, queues[i], event);
            copy(queues[i], region(path[i], memory[i], path[i - 1], memory[i - 1], kSize));
            table().event_destroy(event);
          }
          copy(queues.back(), region(nullptr, received.data(), a, memory.back(), kSize));
          finish(queues.back());
          expect(received == sent, "the bytes changed");
          for (size_t i = 0; i < std::size(path); ++i) {
            finish(queues[i]);
            free_memory(path[i], memory[i]);
            table().queue_destroy(queues[i]);
          }
          must(table().device_unwrap, a);
          must(table().device_unwrap, b);
        }) == "");
}

TEST_CASE("a lost context leaves other contexts usable, and can be wrapped again") {
  constexpr int kContextIsDestroyed = 709;
  CHECK(in_own_process([] {
          const Context mine(0), other(0);
          void* const device = wrap(ARROW_DEVICE_CUDA, 0, mine.get());
          void* const sound = wrap(ARROW_DEVICE_CUDA, 0, other.get());
          void* theirs = nullptr;
          mine.run("cuMemAlloc_v2", &theirs, size_t{kSize});
          void* memory = nullptr;
          const auto try_to_allocate = [&](void* on) {
            arrowdevice_error error{};
            const int code = table().buffer_allocate(on, nullptr, kSize, 64, &memory, &error);
            if (code == 0) table().buffer_free(on, nullptr, memory);
            return std::to_string(code) + " " + error.message;
          };
          drivers::fail_nth("cuMemAlloc_v2", 1, kContextIsDestroyed);
          try_to_allocate(device);
          drivers::fail_no_more();
          const std::string then = try_to_allocate(device);
          expect(then.starts_with(std::to_string(EIO)) && contains(then, "of GPU 0 failed for good: cuMemAlloc_v2"),
                 then);
          expect(try_to_allocate(sound) == "0 ", "another context is lost with it");
          expect(locate(ARROW_DEVICE_CUDA, 0, theirs) == device, "its memory is found elsewhere");
          must(table().device_unwrap, sound);
          expect(locate(ARROW_DEVICE_CUDA, 0, theirs) == device,
                 "its memory is found elsewhere where nobody can be asked");
          expect(calls("cuDevicePrimaryCtxRetain") == 0, "the primary context was made");
          must(table().device_unwrap, device);
          expect(wrap(ARROW_DEVICE_CUDA, 0, mine.get()) == device, "another device");
          expect(try_to_allocate(device) == "0 ", "a new context is lost with a former one");
          must(table().device_unwrap, device);
          mine.run("cuMemFree_v2", theirs);
        }) == "");
}

TEST_CASE("a context that refuses queries does not hide memory of other contexts") {
  CHECK(in_own_process([] {
          const Context mine(0), other(0);
          const Pending work(gpu(0));
          void* const device = wrap(ARROW_DEVICE_CUDA, 0, mine.get());
          void* const second = wrap(ARROW_DEVICE_CUDA, 0, other.get());
          for (const char* const failing : {"cuPointerGetAttributes", "cuCtxPushCurrent_v2"}) {
            for (int64_t failures = 1; failures <= 2; ++failures) {
              for (int64_t n = 1; n <= failures; ++n) drivers::fail_nth(failing, n, 0);
              expect(locate(ARROW_DEVICE_CUDA, 0, work.memory()) == gpu(0), "it is found elsewhere");
              drivers::fail_no_more();
            }
          }
          must(table().device_unwrap, device);
          must(table().device_unwrap, second);
        }) == "");
  CHECK(in_own_process([] {
          const Context mine(0);
          void* const device = wrap(ARROW_DEVICE_CUDA, 0, mine.get());
          drivers::fail_nth("cuPointerGetAttributes", 1, 0);
          void* found = nullptr;
          const std::string message =
              must_fail_once(EIO, table().device_locate, ARROW_DEVICE_CUDA, 0, &mine, nullptr, &found);
          expect(contains(message, "cuPointerGetAttributes"), message);  // the message names the driver's call
          must(table().device_unwrap, device);
        }) == "");
}

}  // namespace
