// SPDX-License-Identifier: Apache-2.0
// Tests large arrays in pageable host memory. Several threads copy them in pieces through pinned memory.
// Each case has its own process.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>

#include "drivers/budgets.h"
#include "drivers/large_copies.h"
#include "drivers/trips.h"
#include "drivers/vendor.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/reader.h"
#include "support/variable.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
using namespace drivers;               // NOLINT: what every line of these tests is written with

constexpr int64_t kRows = 12'000;
constexpr int64_t kPieces = 5;                      // of a copy of the table below
constexpr int64_t kLargeBytes = kRows * (800 + 8);  // of the large columns
// The column of bits is below the limit for a copy in pieces, but it is in the same array.
const HostCase& large() {
  static const HostCase made{"large", struct_of({field("w:800"), field("l"), field("b")}).not_null(), {.rows = kRows}};
  return made;
}

Owned<ArrowDeviceArray> on_host(const Ledger& ledger) {
  Owned<ArrowArray> array = large().array(ledger);
  return output_of(arrowdevice_array_from_host, array.get());
}

void expect_same(const ArrowSchema& schema, const ArrowDeviceArray& host) {
  const auto twin = large().array(Ledger());
  const auto changed = difference(schema, *twin, 0, schema, host.array, 0, twin->length);
  expect(changed.empty(), "the values changed: " + changed);
}

TEST_CASE("large copies of pageable memory go through pinned memory in pieces") {
  CHECK(in_child([] {
          use_threads("3");
          const auto schema = large().schema();
          auto* const gpu = device(vendor().device);
          Owned<ArrowDeviceArray> host = on_host(Ledger());
          const int64_t copies = calls(vendor().copy);
          for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_COPY_ASYNC}}) {
            staged_since(gpu);
            Owned<ArrowDeviceArray> there = copy(host.get(), *schema, gpu, flags);
            expect(staged_since(gpu) >= kLargeBytes, "not by way of pinned memory");
            const auto back = copy(there.get(), *schema, device(ARROW_DEVICE_CPU));
            expect(staged_since(gpu) >= kLargeBytes, "not back by way of pinned memory");
            expect_same(*schema, *back);
          }
          expect(calls(vendor().copy) - copies >= 4 * kPieces, "not in pieces");
          host.reset();
          drivers::trim_all();
          expect(drivers::live_allocations() == 0, "memory was lost");
        }) == "");
}

// Copies to the GPU through `way` and checks that the copy is not in pieces.
void expect_direct(const std::function<Owned<ArrowDeviceArray>(const ArrowSchema&, arrowdevice_device* gpu)>& way) {
  const auto schema = large().schema();
  auto* const gpu = device(vendor().device);
  Owned<ArrowDeviceArray> there = way(*schema, gpu);
  expect(staged_since(gpu) < kLargeBytes, "by way of staging memory");
  expect_same(*schema, *copy(there.get(), *schema, device(ARROW_DEVICE_CPU)));
  there.reset();
  drivers::trim_all();
}

TEST_CASE("pinned memory is copied without staging") {
  CHECK(in_child([] {
          use_threads("3");
          expect_direct([](const ArrowSchema& schema, arrowdevice_device* gpu) {
            Owned<ArrowDeviceArray> host = on_host(Ledger());
            Owned<ArrowDeviceArray> pinned = copy(host.get(), schema, device(vendor().pinned));
            return copy(pinned.get(), schema, gpu);
          });
        }) == "");
}

// Both ends are host memory, so the CPU copies. The GPU's queue only defines the order.
TEST_CASE("a copy from pinned memory to the CPU runs after the given GPU queue's work") {
  CHECK(in_child([] {
          auto* const gpu = device(vendor().device);
          const auto schema = make_schema(field("l"));
          Owned<ArrowArray> first = make_array(generate(field("l"), {.rows = 100}), Ledger());
          auto sent = output_of(arrowdevice_array_from_host, first.get());
          auto values = copy(sent.get(), *schema, device(vendor().pinned));
          const void* const source = values->array.buffers[1];
          Owned<ArrowArray> others = make_array(generate(field("l"), {.rows = 100, .seed = 2}), Ledger());
          auto host = output_of(arrowdevice_array_from_host, others.get());
          auto pinned = copy(host.get(), *schema, device(vendor().pinned));
          void* const target = const_cast<void*>(pinned->array.buffers[1]);
          arrowdevice_queue* made = nullptr;
          void* on_gpu = nullptr;
          expect(arrowdevice_queue_create(gpu, &made, nullptr) == 0, "no queue");
          const Queue queue(made);
          expect(arrowdevice_buffer_allocate(gpu, nullptr, queue.get(), 800, &on_gpu, nullptr) == 0, "no buffer");
          drivers::hold();
          const arrowdevice_copy_region there{gpu, on_gpu, 0, device(vendor().pinned), source, 0, 800, 0};
          const arrowdevice_copy_region back{device(vendor().pinned), target, 0, gpu, on_gpu, 0, 800, 0};
          expect(arrowdevice_queue_copy(queue.get(), &there, 1, nullptr) == 0, "not copied there");
          expect(arrowdevice_queue_copy(queue.get(), &back, 1, nullptr) == 0, "not copied back");
          auto options = sized<arrowdevice_copy_options>();
          options.flags = ARROWDEVICE_COPY_ALWAYS;
          options.queue = queue.get();
          options.timeout_ns = 1;
          Owned<ArrowDeviceArray> out;
          arrowdevice_error error{};
          const auto copy_out = [&] {
            return arrowdevice_array_copy(pinned.get(), schema.get(), device(ARROW_DEVICE_CPU), &options, out.out(),
                                          &error);
          };
          expect(copy_out() == ETIMEDOUT, "it did not wait for the queue");
          expect(std::string(error.message).find("not done in time") != std::string::npos, error.message);
          drivers::resume();
          options.timeout_ns = ARROWDEVICE_NO_TIMEOUT;
          expect(copy_out() == 0, error.message);
          expect(std::memcmp(out->array.buffers[1], source, 800) == 0, "other values came");
          arrowdevice_buffer_free(gpu, nullptr, on_gpu);
          values.reset();
          pinned.reset();
          drivers::trim_all();
        }) == "");
}

TEST_CASE("a GPU gets a copy of pinned memory, unless copies are ruled out") {
  CHECK(in_child([] {
          const auto schema = make_schema(field("l"));
          Owned<ArrowArray> made = make_array(generate(field("l"), {.rows = 100}), Ledger());
          auto host = output_of(arrowdevice_array_from_host, made.get());
          auto* const gpu = device(vendor().device);
          for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_COPY_NEVER}}) {
            auto pinned = copy(host.get(), *schema, device(vendor().pinned));
            const void* const values = pinned->array.buffers[1];
            auto options = sized<arrowdevice_copy_options>();
            options.flags = flags;
            auto there = output_of(arrowdevice_array_to_device, pinned.get(), schema.get(), gpu, &options);
            expect((there->array.buffers[1] == values) == (flags != 0), "not as asked");
            there.reset();
          }
          drivers::trim_all();
        }) == "");
}

TEST_CASE("with one thread, a large column is copied without staging") {
  CHECK(in_child([] {
          use_threads("1");
          expect_direct([](const ArrowSchema& schema, arrowdevice_device* gpu) {
            Owned<ArrowDeviceArray> host = on_host(Ledger());
            return copy(host.get(), schema, gpu);
          });
        }) == "");
}

// The wrapped queue may be the per-thread default stream, so only one thread could copy, as in the driver.
TEST_CASE("on an application's queue, a large column is copied without staging") {
  CHECK(in_child([] {
          use_threads("3");
          expect_direct([](const ArrowSchema& schema, arrowdevice_device* gpu) {
            auto native = sized<arrowdevice_native_queue>();
            native.queue = reinterpret_cast<void*>(2);  // the default stream of the calling thread
            auto* queue = output_of(arrowdevice_queue_wrap, gpu, &native);
            Owned<ArrowDeviceArray> host = on_host(Ledger());
            auto there = copy(host.get(), schema, gpu, 0, queue);
            arrowdevice_queue_destroy(queue);
            return there;
          });
        }) == "");
}

TEST_CASE("without pinned memory, memory is copied without staging") {
  CHECK(in_child([] {
          use_threads("3");
          auto options = sized<arrowdevice_pool_options>();
          options.max_bytes = 256 << 10;
          auto* small = output_of(arrowdevice_pool_create, device(vendor().pinned), &options);
          expect(arrowdevice_device_set_pool(device(vendor().pinned), small, nullptr) == 0, "not its pool");
          expect_direct([](const ArrowSchema& schema, arrowdevice_device* gpu) {
            Owned<ArrowDeviceArray> host = on_host(Ledger());
            return copy(host.get(), schema, gpu);
          });
          expect(arrowdevice_device_set_pool(device(vendor().pinned), nullptr, nullptr) == 0, "not its pool");
          arrowdevice_pool_destroy(small);
        }) == "");
}

TEST_CASE("the number of copy threads is at least 1") {
  for (const char* n : {"0", "-1", "many"}) {
    INFO(n);
    CHECK(in_child([&] {
            use_threads(n);
            const auto schema = large().schema();
            const Owned<ArrowDeviceArray> host = on_host(Ledger());
            Owned<ArrowDeviceArray> out;
            arrowdevice_error error{};
            const int code =
                arrowdevice_array_copy(host.get(), schema.get(), device(vendor().device), nullptr, out.out(), &error);
            expect(code == EINVAL && std::string(error.message).starts_with("ARROWDEVICE_COPY_THREADS="),
                   error.message);
            drivers::trim_all();
          }) == "");
  }
}

TEST_CASE("all threads stop soon after a call for one piece has failed") {
  const Variable slow("STANDIN_LATENCY_US", "20000");  // each thread waits for a piece before the one after the next
  CHECK(in_child([] {
          constexpr int kOutOfMemory = 2;  // after which a driver goes on
          use_threads("3");
          const HostCase column = budgeted_table("large");
          const auto schema = column.schema();
          auto* const gpu = device(vendor().device);
          Owned<ArrowArray> made = column.array(Ledger());
          Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, made.get());
          int64_t before = calls(vendor().copy);
          copy(host.get(), *schema, gpu);  // also allocates the staging memory
          const int64_t all = calls(vendor().copy) - before;
          drivers::fail_nth(vendor().copy, 3, kOutOfMemory);
          before = calls(vendor().copy);
          Owned<ArrowDeviceArray> out;
          const int code = arrowdevice_array_copy(host.get(), schema.get(), gpu, nullptr, out.out(), nullptr);
          expect(code == ENOMEM, "another code: " + std::to_string(code));
          expect(calls(vendor().copy) - before < all / 2, "the other threads went on");
          host.reset();
          drivers::trim_all();
        }) == "");
}

// Starts a large copy on GPUs that stand still, and returns its code. Without a time-out the thread's check ends it.
// The array is released at once.
int stuck_copy(Owned<ArrowDeviceArray> array, arrowdevice_device* to, int64_t timeout_ns) {
  const auto schema = large().schema();
  auto options = sized<arrowdevice_copy_options>();
  options.timeout_ns = timeout_ns;
  Owned<ArrowDeviceArray> out;
  drivers::hold();
  if (timeout_ns == 0) arrowdevice_interrupt_set_check([](void*) { return 1; }, nullptr);
  const int code = arrowdevice_array_to_device(array.get(), schema.get(), to, &options, out.out(), nullptr);
  arrowdevice_interrupt_set_check(nullptr, nullptr);
  array.reset();
  expect(arrowdevice_wait_idle(ARROWDEVICE_POLL, nullptr) == ETIMEDOUT, "the pieces were not left to run");
  drivers::resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  return code;
}

TEST_CASE("a copy in pieces ends in time, or when its thread is interrupted") {
  constexpr int64_t kShort = 30'000'000;  // nanoseconds
  CHECK(in_child([] {
          use_threads("3");
          const Ledger ledger;
          auto* const gpu = device(vendor().device);
          auto* const host = device(ARROW_DEVICE_CPU);
          const auto schema = large().schema();
          const auto there = [&] { return copy(on_host(ledger).get(), *schema, gpu); };
          expect(stuck_copy(on_host(ledger), gpu, kShort) == ETIMEDOUT, "the copy to the GPU has no limit");
          expect(stuck_copy(there(), host, kShort) == ETIMEDOUT, "the copy to the host has no limit");
          expect(stuck_copy(on_host(ledger), gpu, 0) == ECANCELED, "the copy to the GPU was not interrupted");
          expect(stuck_copy(there(), host, 0) == ECANCELED, "the copy to the host was not interrupted");
          expect(ledger.live() == 0, "an array was not released");
          drivers::trim_all();
          expect(drivers::live_allocations() == 0, "memory was lost");
        }) == "");
}

TEST_CASE("a failed call for any piece loses nothing") {
  constexpr int kUnknown = 999;
  int failures = 0;
  for (const std::string call : {vendor().copy, vendor().record, vendor().query, vendor().allocate_pinned}) {
    for (const int64_t n : {1, 2, 3, 5, 8, 13, 21, 34}) {
      const std::string problem = in_child([&] {
        use_threads("3");
        drivers::fail_nth(call, n, kUnknown);
        std::vector<drivers::Failure> allowed = {{call + ": ", EIO, kUnknown}};
        // A failed question leaves it unknown if the work has ended.
        if (call == vendor().query) allowed.push_back({call + ": ", EBUSY, kUnknown});
        const drivers::Attempt attempt = [&](const auto& one) { drivers::attempt(allowed, one); };
        drivers::move_array(attempt, large(), device(vendor().device, 0), device(vendor().device, 1));
        expect(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr) == 0, "deferred work is not done");
        drivers::trim_all();
        expect(drivers::live_allocations() == 0, "memory was lost");
        if (calls(call) < n) throw std::runtime_error("not reached");
      });
      if (problem == "not reached\n") break;
      ++failures;
      INFO(call << ", call " << n);
      CHECK(problem == "");
    }
  }
  CHECK(failures >= 8);
}

}  // namespace
