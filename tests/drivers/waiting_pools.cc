// SPDX-License-Identifier: Apache-2.0
// Pools that reuse memory after the work of the whole context. Each case has its own process, which an alarm ends if a
// call hangs.
#include <arrowdevice/arrowdevice.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "drivers/gate.h"
#include "drivers/trips.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/variable.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
using namespace drivers;               // NOLINT: what every line of these tests is written with

// A pool that waits for the context.
struct WaitingPool {
  explicit WaitingPool(int64_t max_bytes = 0) : pool(make(max_bytes)) {}

  static arrowdevice_pool* make(int64_t max_bytes, arrowdevice_error* error = nullptr) {
    auto options = sized<arrowdevice_pool_options>();
    options.flags = ARROWDEVICE_POOL_WAIT_FOR_CONTEXT;
    options.max_bytes = max_bytes;
    arrowdevice_pool* made = nullptr;
    arrowdevice_pool_create(gpu(), &options, &made, error);
    return made;
  }
  void* allocate() const { return output_of(arrowdevice_buffer_allocate, gpu(), pool.get(), nullptr, int64_t{4096}); }
  // Returns the message of a request above the limit.
  std::string refuse() const {
    void* more = nullptr;
    return must_fail(ENOMEM, arrowdevice_buffer_allocate, gpu(), pool.get(), nullptr, int64_t{8192}, &more);
  }

  const Pool pool;
};

TEST_CASE("a pool that waits for the context does not reuse memory of kernels that run") {
  if (!is_cuda()) return;  // HIP has no such event
  CHECK(in_limited_child([] {
          Gate gate;
          const WaitingPool waiting;
          void* const first = waiting.allocate();
          arrowdevice_buffer_free(gpu(), nullptr, first);
          void* const second = waiting.allocate();
          expect(second != first, "memory was reused while work of the context was pending");
          gate.open();
          // The memory is free when the driver has noticed the end of the work, which an alarm limits.
          void* third = waiting.allocate();
          while (third != first) {
            arrowdevice_buffer_free(gpu(), nullptr, third);
            std::this_thread::yield();
            third = waiting.allocate();
          }
          for (void* const buffer : {second, third}) arrowdevice_buffer_free(gpu(), nullptr, buffer);
        }) == "");
}

TEST_CASE("a pool that waits for the context frees memory after its work") {
  if (!is_cuda()) return;
  CHECK(in_limited_child([] {
          Gate gate;
          const int64_t before = live_allocations();
          {
            const WaitingPool waiting(4096);
            arrowdevice_buffer_free(gpu(), nullptr, waiting.allocate());
            expect(contains(waiting.refuse(), "4.0 KiB used (released but in use by the device 4.0 KiB), "),
                   "memory that waits does not count");
            expect(output_of(arrowdevice_pool_get_stats, waiting.pool.get()).used_bytes == 4096, "it is not in use");
          }
          expect(live_allocations() == before + 1, "memory was freed while work of the context was pending");
          gate.open();
          must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
          expect(live_allocations() == before, "memory was not freed later");
        }) == "");
}

TEST_CASE("a pool that waits for the context needs a driver that can, and no captures") {
  CHECK(in_limited_child([] {
          auto options = sized<arrowdevice_pool_options>();
          options.flags = ARROWDEVICE_POOL_WAIT_FOR_CONTEXT;
          options.allocate = [](void*, int64_t, int64_t, void*, void**) { return ENOMEM; };
          options.deallocate = [](void*, void*, int64_t, void*) {};
          arrowdevice_pool* made = nullptr;
          expect(arrowdevice_pool_create(gpu(), &options, &made, nullptr) == EINVAL, "with an allocator");
          if (!is_cuda()) {
            options.allocate = nullptr;
            options.deallocate = nullptr;
            expect(arrowdevice_pool_create(gpu(), &options, &made, nullptr) == ENOTSUP, "HIP has such an event");
            drivers::trim_all();
            return;
          }
          const WaitingPool waiting(8192);
          void* const buffer = waiting.allocate();
          void* const stream = create_stream(0);
          begin_capture(0, stream, kRelaxedCapture);
          arrowdevice_buffer_free(gpu(), nullptr, buffer);
          expect(!end_capture(0, stream), "the capture is still valid");
          expect(waiting.allocate() != buffer, "memory was reused that may be in use");
          expect(contains(waiting.refuse(), "4.0 KiB used (application 4.0 KiB in 1 allocation), "),
                 "memory that is never used again has a holder");
          destroy_stream(0, stream);
          ::_exit(0);  // the memory is lost, which the stand-in would report
        }) == "");
  if (!is_cuda()) return;
  const Variable older("STANDIN_DRIVER_VERSION", "12040");
  CHECK(contains(in_limited_child([] {
                   arrowdevice_error error{};
                   expect(WaitingPool::make(0, &error) == nullptr, "no error");
                   throw std::runtime_error(error.message);
                 }),
                 "cuCtxRecordEvent: the driver does not have it"));
}

}  // namespace
