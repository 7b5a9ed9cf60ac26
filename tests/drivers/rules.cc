// SPDX-License-Identifier: Apache-2.0
// Tests that the stand-in ends the process on each error. Each error has its own process.
#include <unistd.h>

#include <functional>
#include <vector>

#include "drivers/table.h"
#include "support/catch.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with

// Checks that the mistake ends the process with this message.
void check_violation(const std::string& part, const std::function<void()>& mistake) {
  const std::string said = in_child([&] {
    drivers::open(vendor().device, 1);  // starts the driver
    mistake();
  });
  INFO(said);
  CHECK(said.find(part) != std::string::npos);
  CHECK(said.find("ended by") != std::string::npos);
}

void* device_memory(int ordinal, size_t size) {
  drivers::make_current(ordinal);
  void* memory = nullptr;
  call(vendor().allocate, &memory, size);
  drivers::undo_make_current();
  return memory;
}

void copy(int ordinal, void* to, const void* from, size_t size, void* stream) {
  drivers::make_current(ordinal);
  if (is_cuda()) {
    call(vendor().copy, to, from, size, stream);
  } else {
    call(vendor().copy, to, from, size, 4, stream);
  }
  drivers::undo_make_current();
}

void free_memory(int ordinal, void* memory) {
  drivers::make_current(ordinal);
  call(vendor().free, memory);
  drivers::undo_make_current();
}

TEST_CASE("a stand-in ends the process when no GPU or the wrong one is current") {
  check_violation("current", [] {
    void* const stream = drivers::create_stream(1);
    copy(0, device_memory(1, 64), device_memory(1, 64), 64, stream);
  });
  check_violation("GPU 1", [] { free_memory(0, device_memory(1, 64)); });
  if (is_cuda()) {
    check_violation("no context is current", [] {
      void* memory = nullptr;
      call(vendor().allocate, &memory, size_t{64});
    });
    check_violation("contexts on its stack", [] { drivers::make_current(0); });
  }
}

TEST_CASE("a stand-in ends the process when contexts mix, or a context dies with objects") {
  if (!is_cuda()) return;  // HIP has none
  // Creates a context and leaves it current.
  const auto create_context = [] {
    void* context = nullptr;
    call("cuCtxCreate_v2", &context, 0u, 0);
    return context;
  };
  check_violation("is of the context", [&] {
    void* const memory = device_memory(0, 64);
    create_context();
    call(vendor().free, memory);
  });
  check_violation("is of the context", [&] {
    void* const stream = drivers::create_stream(0);
    create_context();
    call("cuStreamSynchronize", stream);
  });
  check_violation("is of the context", [&] {
    void* const theirs = device_memory(0, 64);
    create_context();
    void* mine = nullptr;
    call(vendor().allocate, &mine, size_t{64});
    call(vendor().copy, mine, theirs, size_t{64}, static_cast<void*>(nullptr));
  });
  check_violation("1 streams, events and pieces of memory are left", [&] {
    void* const context = create_context();
    void* mine = nullptr;
    call(vendor().allocate, &mine, size_t{64});
    call("cuCtxDestroy_v2", context);
  });
  check_violation("is not a live context", [&] {
    void* const context = create_context();
    call("cuCtxDestroy_v2", context);
    call("cuCtxDestroy_v2", context);
  });
}

TEST_CASE("a stand-in ends the process on destroyed or foreign handles") {
  check_violation("not a live stream", [] {
    void* const stream = drivers::create_stream(0);
    drivers::destroy_stream(0, stream);
    drivers::destroy_stream(0, stream);
  });
  check_violation("not a live event", [] {
    void* const event = drivers::create_event(0);
    drivers::destroy_event(0, event);
    drivers::record(0, event, nullptr);
  });
  check_violation("not a live event", [] {
    int nothing = 0;
    drivers::record(0, &nothing, nullptr);
  });
}

TEST_CASE("a stand-in ends the process on ranges outside of allocations and freed memory") {
  check_violation("reach out of an allocation",
                  [] { copy(0, device_memory(0, 64), device_memory(0, 63), 64, nullptr); });
  check_violation("that was freed", [] {
    void* const memory = device_memory(0, 64);
    free_memory(0, memory);
    copy(0, memory, device_memory(0, 64), 64, nullptr);
  });
  check_violation("freed already", [] {
    void* const memory = device_memory(0, 64);
    free_memory(0, memory);
    free_memory(0, memory);
  });
  check_violation("of a copy between GPUs", [] {
    void* pinned = nullptr;
    if (!is_cuda()) {
      call("hipHostMalloc", &pinned, size_t{64}, 1u);
      call("hipMemcpyPeerAsync", device_memory(0, 64), 0, pinned, 1, size_t{64}, static_cast<void*>(nullptr));
      return;
    }
    drivers::make_current(0);
    void *to = nullptr, *context = nullptr;
    call(vendor().allocate, &to, size_t{64});
    call("cuMemHostAlloc", &pinned, size_t{64}, 1u);
    call("cuCtxGetCurrent", &context);
    call("cuMemcpyPeerAsync", to, context, pinned, context, size_t{64}, static_cast<void*>(nullptr));
  });
}

// Reserves a range of virtual memory.
char* reserve(size_t size) {
  char* range = nullptr;
  must_call_vendor("cuMemAddressReserve", "hipMemAddressReserve", &range, size, size_t{0}, static_cast<void*>(nullptr),
                   0ULL);
  return range;
}

TEST_CASE("ranges of virtual memory and mappings in them are aligned to the granularity") {
  constexpr size_t kGranularity = 2 << 20;
  CHECK(in_child([] {
          drivers::open(vendor().device, 0);
          drivers::make_current(0);
          std::vector<char*> ranges;
          for (int i = 0; i < 4; ++i) ranges.push_back(reserve(kGranularity));
          for (char* const range : ranges) {
            expect(reinterpret_cast<uintptr_t>(range) % kGranularity == 0, "a range is not aligned");
            must_call_vendor("cuMemAddressFree", "hipMemAddressFree", range, kGranularity);
          }
          drivers::undo_make_current();
        }) == "");
  check_violation("is no multiple of the granularity", [] {
    drivers::make_current(0);
    char* const range = reserve(2 * kGranularity);
    call(is_cuda() ? "cuMemMap" : "hipMemMap", range + 4096, kGranularity, size_t{0}, static_cast<void*>(nullptr),
         0ULL);
  });
}

TEST_CASE("a stand-in ends the process when the CPU reads device memory") {
  check_violation("ended by Segmentation fault", [] {
    const auto* const memory = static_cast<const volatile char*>(device_memory(0, 64));
    [[maybe_unused]] const char read = *memory;
  });
}

TEST_CASE("a stand-in ends the process when memory in use is freed, at any speed") {
  check_violation("while work on it is pending", [] {
    void* const to = device_memory(0, 64);
    copy(0, to, device_memory(0, 64), 64, nullptr);
    free_memory(0, to);
  });
  check_violation("is freed before it is there", [] {
    const Pending work(drivers::open(vendor().device, 0));
    void* const other = drivers::create_stream(0);
    drivers::make_current(0);
    call(vendor().free_on, work.memory(), other);
  });
  check_violation("does not wait for the work on it", [] {
    void* const device = drivers::open(vendor().device, 0);
    char* const memory = static_cast<char*>(drivers::allocate(device, 64));
    drivers::copy(drivers::create_queue(device), drivers::region(device, memory + 32, device, memory, 32));
    void* const other = drivers::create_stream(0);
    drivers::make_current(0);
    call(vendor().free_on, memory, other);
  });
  check_violation("freed by the call that waits", [] {
    Pending work(drivers::open(vendor().device, 0));
    work.finish();
    free_memory(0, work.memory());
  });
}

void launch(void* stream, void (*function)(void* user)) {
  drivers::make_current(0);
  call(is_cuda() ? "cuLaunchHostFunc" : "hipLaunchHostFunc", stream, function, static_cast<void*>(nullptr));
  drivers::undo_make_current();
}

TEST_CASE("a stand-in ends the process when a host function or a wait is misused") {
  check_violation("is called in a host function", [] {
    void* const stream = drivers::create_stream(0);
    launch(stream, [](void*) { call(vendor().synchronize, static_cast<void*>(nullptr)); });
    drivers::make_current(0);
    call(vendor().synchronize, stream);
  });
  check_violation("1 waits and host functions are pending at exit",
                  [] { launch(drivers::create_stream(0), [](void*) { ::pause(); }); });
  if (!is_cuda()) return;
  check_violation("is no pinned memory", [] {
    void* const stream = drivers::create_stream(0);
    void* const word = device_memory(0, 64);
    drivers::make_current(0);
    call("cuStreamWaitValue32_v2", stream, word, uint32_t{1}, 1U);
  });
}

TEST_CASE("a stand-in ends the process when work becomes part of a graph") {
  check_violation("is being captured into a graph", [] {
    void* const stream = drivers::create_stream(0);
    drivers::begin_capture(0, stream, drivers::kRelaxedCapture);
    copy(0, device_memory(0, 64), device_memory(0, 64), 64, stream);
  });
  check_violation("the wait makes the stream part of a graph", [] {
    void* const captured = drivers::create_stream(0);
    void* const event = drivers::create_event(0);
    drivers::begin_capture(0, captured, drivers::kRelaxedCapture);
    drivers::record(0, event, captured);
    void* const other = drivers::create_stream(0);
    drivers::make_current(0);
    call(vendor().wait_on, other, event, 0U);
  });
  check_violation("is captured already", [] {
    void* const stream = drivers::create_stream(0);
    drivers::begin_capture(0, stream, drivers::kRelaxedCapture);
    drivers::begin_capture(0, stream, drivers::kRelaxedCapture);
  });
  check_violation("is not being captured", [] { drivers::end_capture(0, drivers::create_stream(0)); });
  if (is_cuda()) {
    check_violation("cuMemAlloc has no form of version 12345", [] {
      void* function = nullptr;
      int status = 0;
      call("cuGetProcAddress_v2", "cuMemAlloc", &function, 12345, uint64_t{1}, &status);
    });
  }
}

TEST_CASE("a stand-in ends the process on leaks at exit, except contexts and streams") {
  check_violation("device memory are left at exit", [] { device_memory(0, 64); });
  check_violation("events are left at exit", [] { drivers::create_event(0); });
}

TEST_CASE("a stand-in ends the process when it is called after exit, or in a forked child") {
  const std::string said = in_child([] {
    static void* stream = nullptr;
    // The handler is registered before the driver starts, so it runs after the driver's own handler.
    std::atexit([] { drivers::destroy_stream(0, stream); });
    drivers::open(vendor().device, 0);
    stream = drivers::create_stream(0);
  });
  INFO(said);
  CHECK(said.find("after the process has begun to exit") != std::string::npos);
  check_violation("in a forked child", [] {
    const std::string child = in_child([] { drivers::create_stream(0); });
    std::fputs(child.c_str(), stderr);
    std::abort();
  });
}

}  // namespace
