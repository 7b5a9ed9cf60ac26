// SPDX-License-Identifier: Apache-2.0
// Copies of pageable host memory on a queue that waits for work of others. The driver waits for such a queue in the
// call, without limit. Each case has its own process, which an alarm ends if a call hangs.
#include <arrowdevice/arrowdevice.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "drivers/gate.h"
#include "drivers/trips.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/reader.h"
#include "support/variable.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
using namespace drivers;               // NOLINT: what every line of these tests is written with

constexpr int64_t kShort = 20'000'000;  // nanoseconds

// Above the size from which copies use several threads.
const HostCase& large() {
  static const HostCase made{"large", struct_of({field("w:800"), field("l")}).not_null(), {.rows = 12'000}};
  return made;
}

arrowdevice_copy_options with(uint32_t flags = 0, arrowdevice_queue* queue = nullptr, int64_t timeout_ns = 0) {
  auto options = sized<arrowdevice_copy_options>();
  options.flags = flags;
  options.queue = queue;
  options.timeout_ns = timeout_ns;
  return options;
}

int copy(ArrowDeviceArray* array, const HostCase& one, arrowdevice_device* to, const arrowdevice_copy_options& options,
         Owned<ArrowDeviceArray>& out) {
  const auto schema = one.schema();
  return arrowdevice_array_copy(array, schema.get(), to, &options, out.out(), nullptr);
}

void expect_same(const HostCase& one, ArrowDeviceArray* array) {
  Owned<ArrowDeviceArray> host;
  expect(copy(array, one, cpu(), with(), host) == 0, "not copied back");
  const auto twin = one.array(Ledger());
  const auto changed = difference(*one.schema(), *twin, 0, *one.schema(), host->array, 0, twin->length);
  expect(changed.empty(), "the values changed: " + changed);
}

bool is_pending(const ArrowDeviceArray& array) {
  return arrowdevice_array_wait(&array, nullptr, ARROWDEVICE_POLL, nullptr) == ETIMEDOUT;
}

TEST_CASE("an asynchronous copy to a GPU returns while its queue waits for work of others") {
  CHECK(in_limited_child([] {
          for (const HostCase* one : {&small(), &large()}) {
            Gate gate;
            const Queue queue = gate.queue();
            Owned<ArrowDeviceArray> host = on_host(*one);
            Owned<ArrowDeviceArray> out;
            expect(copy(host.get(), *one, gpu(), with(ARROWDEVICE_COPY_ASYNC, queue.get()), out) == 0, "no copy");
            expect(is_pending(*out), "it did not wait for the queue");
            gate.open();
            must(arrowdevice_array_wait, out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
            host.reset();
            expect_same(*one, out.get());
          }
        }) == "");
}

TEST_CASE("an asynchronous copy returns while an application's stream stands still") {
  CHECK(in_limited_child([] {
          Gate gate;
          auto native = sized<arrowdevice_native_queue>();
          native.queue = gate.stream();
          arrowdevice_queue* wrapped = nullptr;
          must(arrowdevice_queue_wrap, gpu(), &native, &wrapped);
          const Queue queue(wrapped);
          Owned<ArrowDeviceArray> host = on_host(small());
          Owned<ArrowDeviceArray> out;
          expect(copy(host.get(), small(), gpu(), with(ARROWDEVICE_COPY_ASYNC, queue.get()), out) == 0, "no copy");
          expect(is_pending(*out), "it did not wait for the stream");
          gate.open();
          must(arrowdevice_array_wait, out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
          expect_same(small(), out.get());
        }) == "");
}

TEST_CASE("time-outs hold while a queue waits for work of others") {
  CHECK(in_limited_child([] {
          for (const HostCase* one : {&small(), &large()}) {
            Gate gate;
            Owned<ArrowDeviceArray> host = on_host(*one);
            Owned<ArrowDeviceArray> there = on_gpu(*one);
            Owned<ArrowDeviceArray> out;
            const Queue queue = gate.queue();
            const auto limited = with(0, queue.get(), kShort);
            expect(copy(host.get(), *one, gpu(), limited, out) == ETIMEDOUT, "the copy to the GPU has no limit");
            expect(copy(there.get(), *one, cpu(), limited, out) == ETIMEDOUT, "the copy from the GPU has no limit");
            expect(copy(there.get(), *one, gpu(), limited, out) == ETIMEDOUT, "the copy on the GPU has no limit");
            expect(copy(gate.array(), small(), cpu(), with(0, nullptr, kShort), out) == ETIMEDOUT,
                   "the wait for the source has no limit");
            gate.open();
            expect(copy(host.get(), *one, gpu(), with(0, queue.get()), out) == 0, "not copied later");
            expect_same(*one, out.get());
          }
        }) == "");
}

TEST_CASE("without pinned memory an asynchronous copy waits for its queue") {
  CHECK(in_limited_child([] {
          Gate gate;
          const Queue queue = gate.queue();
          Owned<ArrowDeviceArray> host = on_host(large());
          Owned<ArrowDeviceArray> out;
          constexpr int kNoMemory = 2;
          // The library asks a second time after it has freed cached memory.
          for (const int64_t call : {1, 2}) fail_nth(vendor().allocate_pinned, call, kNoMemory);
          expect(copy(host.get(), large(), gpu(), with(ARROWDEVICE_COPY_ASYNC, queue.get(), kShort), out) == ETIMEDOUT,
                 "the wait for the queue has no limit");
          const int64_t asked = calls(vendor().allocate_pinned);
          fail_nth(vendor().allocate_pinned, 1, kNoMemory);  // no memory is cached any more
          std::thread opener([&] {
            while (calls(vendor().allocate_pinned) == asked) std::this_thread::yield();
            gate.open();
          });
          const int code = copy(host.get(), large(), gpu(), with(ARROWDEVICE_COPY_ASYNC, queue.get()), out);
          opener.join();
          expect(code == 0, "no copy");
          expect(gate.is_open(), "it did not wait");
          must(arrowdevice_array_wait, out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
          expect_same(large(), out.get());
        }) == "");
}

// Copies a region on a queue of the GPU that waits. The wait must be in the library, so that other calls of the queue
// go on.
void expect_wait_for_queue(const arrowdevice_copy_region& region) {
  Gate gate;
  const Queue queue = gate.queue();
  std::atomic<bool> has_returned{false};
  std::thread copying([&] {
    must(arrowdevice_queue_copy, queue.get(), &region, 1);
    has_returned = true;
  });
  const int64_t copies = calls(vendor().copy);
  expect(arrowdevice_queue_finish(queue.get(), kShort, nullptr) == ETIMEDOUT, "the queue is idle");
  expect(!has_returned && calls(vendor().copy) == copies, "the driver waits, not the library");
  gate.open();
  copying.join();
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
}

void* allocate_on(arrowdevice_device* device) {
  return output_of(arrowdevice_buffer_allocate, device, nullptr, nullptr, int64_t{64});
}

// The header names the two exceptions.
TEST_CASE("a copy of bytes of pageable memory waits for its queue") {
  CHECK(in_limited_child([] {
          void* const there = allocate_on(gpu());
          const std::string bytes(64, 'x');
          expect_wait_for_queue({gpu(), there, 0, nullptr, bytes.data(), 0, 64, 0});
          arrowdevice_buffer_free(gpu(), nullptr, there);
          trim_all();
        }) == "");
}

TEST_CASE("a copy of bytes within pinned memory waits for its queue") {
  CHECK(in_limited_child([] {
          auto* const pinned = output_of(arrowdevice_device_find_by_id, vendor().pinned, int64_t{0});
          void* const from = allocate_on(pinned);
          void* const to = allocate_on(pinned);
          expect_wait_for_queue({pinned, to, 0, pinned, from, 0, 64, 0});
          expect_wait_for_queue({nullptr, to, 0, nullptr, from, 0, 64, 0});
          for (void* const memory : {from, to}) arrowdevice_buffer_free(pinned, nullptr, memory);
          trim_all();
        }) == "");
}

TEST_CASE("a queue can be asked and waited for while the driver blocks in a call") {
  const Variable without("ARROWDEVICE_CUDA_WITHOUT", "batches");
  CHECK(in_limited_child([] {
          arrowdevice_queue* made = nullptr;
          must(arrowdevice_queue_create, gpu(), &made);
          const Queue queue(made);
          Owned<ArrowDeviceArray> host = on_host(small());
          Owned<ArrowDeviceArray> out;
          const int64_t copies = calls(vendor().copy);
          hold_call(vendor().copy);
          std::thread copying(
              [&] { expect(copy(host.get(), small(), gpu(), with(0, queue.get()), out) == 0, "no copy"); });
          while (calls(vendor().copy) == copies) std::this_thread::yield();
          for (const int64_t timeout : {kShort, int64_t{ARROWDEVICE_POLL}}) {
            expect(arrowdevice_queue_finish(queue.get(), timeout, nullptr) == ETIMEDOUT, "the queue is idle");
          }
          hold_call("");
          copying.join();
          must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
          out.reset();
          trim_all();
        }) == "");
}

TEST_CASE("without enough pinned memory, small copies succeed without it") {
  static const HostCase table{"megabyte", struct_of({field("l")}).not_null(), {.rows = 131'072}};
  CHECK(in_limited_child([] {
          auto* const pinned = output_of(arrowdevice_device_find_by_id, vendor().pinned, int64_t{0});
          auto limits = sized<arrowdevice_pool_options>();
          limits.max_bytes = 256 << 10;
          auto* const pool = output_of(arrowdevice_pool_create, pinned, &limits);
          must(arrowdevice_device_set_pool, pinned, pool);
          {
            Owned<ArrowDeviceArray> host = on_host(table);
            Owned<ArrowDeviceArray> there, late;
            expect(copy(host.get(), table, gpu(), with(), there) == 0, "not copied");
            Gate gate;
            const Queue queue = gate.queue();
            auto options = with(ARROWDEVICE_COPY_ASYNC, queue.get(), kShort);
            expect(copy(host.get(), table, gpu(), options, late) == ETIMEDOUT, "the copy did not wait for its queue");
            gate.open();
            options.timeout_ns = ARROWDEVICE_NO_TIMEOUT;
            expect(copy(host.get(), table, gpu(), options, late) == 0, "not copied later");
            for (auto* const copied : {there.get(), late.get()}) expect_same(table, copied);
          }
          must(arrowdevice_device_set_pool, pinned, nullptr);
          arrowdevice_pool_destroy(pool);
          trim_all();
        }) == "");
}

}  // namespace
