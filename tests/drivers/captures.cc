// SPDX-License-Identifier: Apache-2.0
// Tests the CUDA and HIP backends while an application captures a stream into a graph, and other cases in which the
// driver cannot tell if work has ended. Each case has its own process.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <thread>

#include "drivers/table.h"
#include "support/catch.h"
#include "support/variable.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::Variable;

constexpr int kCaptureImplicit = 906;

void* gpu(int64_t id) { return drivers::open(vendor().device, id); }
void* pinned(int64_t id) { return drivers::open(vendor().pinned, id); }

// Does everything that the library does on a device: allocates, copies, queries, waits and frees.
void use_everything() {
  for (void* const device : {gpu(0), pinned(0)}) {
    Pending work(device, 4096);
    void* const event = record(work.queue());
    int ready = 0;
    must(table().event_query, event, &ready);
    must(table().event_wait, event, 60'000'000'000);
    must(table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
    table().event_destroy(event);
    table().buffer_free(device, work.queue(), allocate(device, 64));
    work.finish();
    free_memory(device, allocate(device, 64));  // also frees what was freed behind the queue
  }
}

TEST_CASE("the library's work does not end a capture, nor fail during one") {
  for (const char* pools : {"1", "0"}) {
    const Variable memory_pools("STANDIN_MEMORY_POOLS", pools);
    for (const CaptureMode mode : {kGlobalCapture, kThreadLocalCapture, kRelaxedCapture}) {
      for (const bool is_of_same_thread : {true, false}) {
        INFO("pools " << pools << ", mode " << mode << ", same thread " << is_of_same_thread);
        CHECK(in_own_process([&] {
                gpu(0);
                void* const stream = drivers::create_stream(0);
                drivers::begin_capture(0, stream, mode);
                if (is_of_same_thread) {
                  use_everything();
                } else {
                  std::thread(use_everything).join();
                }
                expect(drivers::end_capture(0, stream), "the capture was invalidated");
                drivers::destroy_stream(0, stream);
              }) == "");
      }
    }
  }
}

TEST_CASE("every call restores the thread's capture mode") {
  CHECK(in_own_process([] {
          gpu(0);
          for (const CaptureMode mode : {kGlobalCapture, kThreadLocalCapture, kRelaxedCapture}) {
            drivers::exchange_capture_mode(mode);
            use_everything();
            expect(drivers::exchange_capture_mode(kGlobalCapture) == mode, "the mode changed");
          }
        }) == "");
}

TEST_CASE("a stream that is being captured refuses work with EBUSY and the reason") {
  CHECK(in_own_process([] {
          void* const device = gpu(0);
          void* const stream = drivers::create_stream(0);
          void* const queue = wrap(device, stream);
          void* const memory = allocate(device, 64);
          void* const event = record(create_queue(device));
          static char bytes[64];
          const arrowdevice_backend_region region{device, memory, 0, nullptr, bytes, 0, sizeof bytes, 0};
          drivers::begin_capture(0, stream, kRelaxedCapture);
          const int64_t records = calls(vendor().record);
          void* made = nullptr;
          for (const std::string& said : {must_fail_once(EBUSY, table().queue_copy, queue, &region, 1),
                                          must_fail_once(EBUSY, table().event_record, queue, &made),
                                          must_fail_once(EBUSY, table().queue_wait_event, queue, event)}) {
            expect(contains(said, "captured into a graph"), said);
          }
          expect(calls(vendor().record) == records, "an event was recorded");
          expect(drivers::end_capture(0, stream), "the capture was invalidated");
          must(table().queue_copy, queue, &region, 1);  // the stream is usable again
          finish(queue);
          free_memory(device, memory);
        }) == "");
}

TEST_CASE("a queue whose stream was given out and is then captured refuses work") {
  CHECK(in_own_process([] {
          void* const queue = create_queue(gpu(0));
          arrowdevice_native_queue native{};
          must(table().queue_get_native, queue, &native);
          drivers::begin_capture(0, native.queue, kRelaxedCapture);
          void* event = nullptr;
          must_fail_once(EBUSY, table().event_record, queue, &event);
          expect(drivers::end_capture(0, native.queue), "the capture was invalidated");
        }) == "");
}

TEST_CASE("memory freed behind a captured stream stays allocated, and the log says so") {
  const Variable log("ARROWDEVICE_LOG", "1");
  std::string output;
  CHECK(in_own_process(
            [] {
              void* const device = gpu(0);
              void* const stream = drivers::create_stream(0);
              void* const queue = wrap(device, stream);
              void* const memory = allocate(device, 64);
              drivers::begin_capture(0, stream, kRelaxedCapture);
              table().buffer_free(device, queue, memory);
              expect(drivers::live_allocations() == 1, "it was freed");
              expect(drivers::end_capture(0, stream), "the capture was invalidated");
              free_memory(device, memory);
            },
            &output) == "");
  CHECK(contains(output, "captured into a graph"));
}

TEST_CASE("an event that was recorded in a capture is refused with EBUSY") {
  CHECK(in_own_process([] {
          void* const device = gpu(0);
          void* const stream = drivers::create_stream(0);
          void* theirs = drivers::create_event(0);
          void* const queue = create_queue(device);
          drivers::begin_capture(0, stream, kRelaxedCapture);
          drivers::record(0, theirs, stream);
          auto* event = output_of(table().event_import, device, &theirs);
          int ready = 0;
          must_fail_once(EBUSY, table().event_query, event, &ready);
          must_fail_once(EBUSY, table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
          must_fail_once(EBUSY, table().queue_wait_event, queue, event);
          expect(drivers::end_capture(0, stream), "the capture was invalidated");
        }) == "");
}

TEST_CASE("the legacy stream refuses work with EBUSY while a blocking stream is captured") {
  const std::string is_capturing = is_cuda() ? "cuStreamIsCapturing" : "hipStreamIsCapturing";
  CHECK(in_own_process([&] {
          void* const legacy = wrap(gpu(0), nullptr);
          drivers::fail_nth(is_capturing, 1, kCaptureImplicit);  // the driver's answer in that case
          void* event = nullptr;
          must_fail_once(EBUSY, table().event_record, legacy, &event);
        }) == "");
}

// A driver error that is not fatal says nothing about the work.
TEST_CASE("a query that fails is EIO only if the GPU is lost") {
  CHECK(in_own_process([] {
          constexpr int kUnknown = 999;
          constexpr int kIllegalAddress = 700;
          void* const event = record(create_queue(gpu(0)));
          int ready = 0;
          drivers::fail_nth(vendor().query, 1, kUnknown);
          const std::string said = must_fail_once(EBUSY, table().event_query, event, &ready);
          expect(contains(said, "not known"), said);
          drivers::fail_nth(vendor().query, 1, kIllegalAddress);
          must_fail_once(EIO, table().event_query, event, &ready);
        }) == "");
}

// The driver knows nothing of the work of a context that the application has destroyed.
TEST_CASE("after the application has destroyed its context, its work counts as failed") {
  if (vendor().device != ARROW_DEVICE_CUDA) return;  // the other vendor has no contexts
  CHECK(in_own_process([] {
          constexpr int kInvalidContext = 201;
          void* const event = record(create_queue(gpu(0)));
          drivers::fail_nth("cuCtxPushCurrent_v2", 1, kInvalidContext);
          int ready = 0;
          must_fail_once(EINVAL, table().event_query, event, &ready);
          const std::string said = must_fail_once(EIO, table().event_query, event, &ready);
          expect(contains(said, "failed for good: cuCtxPushCurrent_v2: CUDA_ERROR_INVALID_CONTEXT"), said);
        }) == "");
}

}  // namespace
