// SPDX-License-Identifier: Apache-2.0
// Tests guarantees of the CUDA and HIP backends beyond conformance. Each case has its own process.
#include <arrowdevice/arrowdevice.h>

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "drivers/table.h"
#include "support/catch.h"
#include "support/variable.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::Variable;

void* gpu(int64_t id) { return drivers::open(vendor().device, id); }
void* pinned(int64_t id) { return drivers::open(vendor().pinned, id); }

// Returns the number of calls of all entry points.
int64_t all_calls() {
  int64_t all = 0;
  for (const std::string& entry_point : drivers::entry_points()) all += calls(entry_point);
  return all;
}

// Makes typical calls of the backend and ignores their failures.
void use_once() {
  arrowdevice_error error{};
  void* queue = nullptr;
  void* memory = nullptr;
  void* event = nullptr;
  if (table().queue_create(gpu(0), &queue, &error) != 0) return;
  if (table().buffer_allocate(gpu(0), queue, 64, 64, &memory, &error) == 0) {
    static const char bytes[64] = "";  // the copy may run after this function returns
    const arrowdevice_backend_region region{gpu(0), memory, 0, nullptr, bytes, 0, sizeof bytes, 0};
    table().queue_copy(queue, &region, 1, &error);
    arrowdevice_pointer_info info{};
    table().pointer_get_info(gpu(0), memory, &info, &error);
  }
  // Repeats the calls until the driver reports that the work has finished. Memory is freed only after that.
  int ready = 0;
  while (ready == 0) {
    if (table().event_record(queue, &event, &error) != 0) continue;
    table().queue_wait_event(queue, event, &error);
    table().event_wait(event, ARROWDEVICE_NO_TIMEOUT, &error);
    table().event_query(event, &ready, &error);
    table().event_destroy(event);
  }
  if (memory != nullptr) table().buffer_free(gpu(0), nullptr, memory);
  table().queue_destroy(queue);
}

TEST_CASE("every call restores the caller's current context, even if the call fails") {
  CHECK(in_own_process([] {
          gpu(0);
          drivers::make_current(1);
          const intptr_t before = drivers::current();
          use_once();
          expect(drivers::current() == before, "another GPU is current after calls that succeed");
          for (const std::string& entry_point : drivers::entry_points()) {
            if (entry_point == "hipSetDevice") continue;  // this call also restores the device
            for (int64_t n = 1; n <= 8; ++n) {
              drivers::fail_nth(entry_point, n, 0);
              use_once();
              drivers::fail_no_more();
              expect(drivers::current() == before, "another GPU is current after " + entry_point + " failed");
            }
          }
          drivers::undo_make_current();
        }) == "");
}

TEST_CASE("a thread without a context can free everything, and still has none") {
  CHECK(in_own_process([] {
          auto work = std::make_unique<Pending>(gpu(1));
          work->finish();
          intptr_t before = -1, after = -1;
          std::thread([&] {
            before = drivers::current();
            work.reset();
            after = drivers::current();
          }).join();
          expect(before == after, "giving back changed what is current on the thread");
          expect(drivers::live_allocations() == 0, "the memory was not given back");
        }) == "");
}

TEST_CASE("threads that allocate first at the same time share one stream for memory") {
  CHECK(in_own_process([] {
          constexpr int kThreads = 8;
          void* const device = gpu(0);
          std::atomic<int> begun = 0;
          drivers::hold_call(vendor().create_stream);
          std::vector<std::thread> threads;
          for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&] {
              ++begun;
              free_memory(device, allocate(device, 64));
            });
          }
          while (begun < kThreads || calls(vendor().create_stream) == 0) std::this_thread::yield();
          drivers::hold_call("");
          for (std::thread& thread : threads) thread.join();
          expect(calls(vendor().create_stream) == 1, "the threads created several streams");
        }) == "");
}

TEST_CASE("a GPU has the free and total memory that its driver reports") {
  const Variable small("STANDIN_MEMORY", "1048576");
  CHECK(in_own_process([] {
          void* const memory = allocate(gpu(0), 4096);
          int64_t free_bytes = -1, total_bytes = -1;
          must(table().device_get_memory_info, gpu(0), &free_bytes, &total_bytes);
          expect(total_bytes == 1'048'576, "another total: " + std::to_string(total_bytes));
          expect(free_bytes == total_bytes - 4096, "another free amount: " + std::to_string(free_bytes));
          free_memory(gpu(0), memory);
        }) == "");
}

// The error: freeing stream-ordered memory with the call that waits, on a thread without a context.
TEST_CASE("mistake 13: memory is freed in order, and in the way it was allocated") {
  const Variable slow("STANDIN_LATENCY_US", "20000");
  CHECK(in_own_process([] {
          Pending work(gpu(0));
          std::thread([&] { work.free_behind(); }).join();
          expect(calls(vendor().allocate_on) == 1 && calls(vendor().free_on) == 1, "not in the order of a stream");
          expect(calls(vendor().allocate) == 0 && calls(vendor().free) == 0, "by calls that wait");
          expect(drivers::live_allocations() == 0, "the memory was not given back");
        }) == "");
  {
    const Variable without_pools("STANDIN_MEMORY_POOLS", "0");
    CHECK(in_own_process([] {
            gpu(0);
            drivers::hold();
            Pending work(gpu(0));
            std::thread([&] { work.free_behind(); }).join();
            expect(calls(vendor().allocate) == 1 && calls(vendor().allocate_on) == 0, "in the order of a stream");
            expect(calls(vendor().free) == 0, "it was freed while work on it was pending");
            drivers::resume();
            work.finish();
            const Pending more(gpu(0));  // the next allocation frees memory whose work has finished
            expect(calls(vendor().free) == 1, "it was not freed when the work was over");
          }) == "");
  }
  CHECK(in_own_process([] {
          void* const source = allocate(gpu(0), 64);
          pinned(0);
          drivers::hold();
          Pending work(pinned(0), gpu(0), source);
          work.free_behind();
          expect(calls(vendor().free_pinned) == 0, "pinned memory was freed while work on it was pending");
          drivers::resume();
          work.finish();
          Pending more(pinned(0), gpu(0), source);
          expect(calls(vendor().free_pinned) == 1, "it was not freed when the work was over");
          more.finish();
          free_memory(gpu(0), source);
        }) == "");
}

TEST_CASE("an allocation does not wait for memory freed behind another queue's work") {
  CHECK(in_own_process([] {
          void* const device = gpu(0);
          drivers::hold();
          Pending work(device);
          work.free_behind();
          void* const other = drivers::create_queue(device);
          void* memory = nullptr;
          must(table().buffer_allocate, device, other, int64_t{64}, int64_t{64}, &memory);
          expect(calls("inserted dependency") == 0, "the driver made the other queue wait");
          drivers::resume();
          drivers::finish(other);
          drivers::free_memory(device, memory);
          table().queue_destroy(other);
        }) == "");
}

TEST_CASE("pinned memory waits for its last use even if the driver creates no event") {
  CHECK(in_own_process([] {
          void* const source = allocate(gpu(0), 64);
          pinned(0);
          drivers::hold();
          Pending work(pinned(0), gpu(0), source);
          const int64_t waits = calls(vendor().synchronize);
          const int64_t freed = calls(vendor().free_pinned);
          drivers::fail_nth(vendor().create_event, 1, 0);
          std::thread freeing([&] { work.free_behind(); });
          while (calls(vendor().synchronize) == waits && calls(vendor().free_pinned) == freed) {
            std::this_thread::yield();
          }
          const bool was_freed = calls(vendor().free_pinned) > freed;
          drivers::resume();
          freeing.join();
          expect(!was_freed, "pinned memory was freed while work on it was pending");
          expect(calls(vendor().free_pinned) == freed + 1, "it was not freed when the work was over");
          free_memory(gpu(0), source);
        }) == "");
}

TEST_CASE("after a fatal error of a GPU every call fails with EIO and names the error") {
  constexpr int kIllegalAddress = 700;
  CHECK(in_own_process([] {
          void* const queue = create_queue(gpu(0));
          void* const event = record(queue);
          void* const memory = allocate(gpu(0), 64);
          void* const used = allocate(gpu(0), 64);
          void* const in_host = allocate(pinned(0), 64);
          drivers::fail_nth(vendor().query, 1, kIllegalAddress);
          int ready = 0;
          const std::string first = must_fail_once(EIO, table().event_query, event, &ready);
          expect(contains(first, vendor().query) && contains(first, "(700)"), first);
          const int64_t before = all_calls();
          void* none = nullptr;
          const std::string then = must_fail_once(EIO, table().event_record, queue, &none);
          expect(contains(then, "failed for good") && contains(then, first), then);
          must_fail_once(EIO, table().buffer_allocate, gpu(0), nullptr, 64, 64, &none);
          table().event_destroy(event);
          free_memory(gpu(0), memory);
          free_memory(pinned(0), in_host);
          table().buffer_free(gpu(0), queue, used);
          table().queue_destroy(queue);
          expect(all_calls() == before, "the driver was called again");
        }) == "");
}

TEST_CASE("freeing after the driver has shut down is silent, other failures are logged") {
  constexpr int kDeinitialized = 4;
  const Variable log("ARROWDEVICE_LOG", "1");
  for (const int code : {kDeinitialized, 999}) {
    std::string output;
    CHECK(in_own_process(
              [&] {
                auto work = std::make_unique<Pending>(gpu(0));
                work->finish();
                drivers::fail_nth(vendor().free_on, 1, code);
                work.reset();
              },
              &output) == "");
    INFO(output);
    CHECK(contains(output, std::string(vendor().free_on) + ": ") == (code != kDeinitialized));
  }
}

TEST_CASE("streams, default ones included, are wrapped on their own GPU only") {
  CHECK(in_own_process([] {
          void* const device = gpu(0);
          void* const theirs = drivers::create_stream(0);
          for (void* const stream :
               {static_cast<void*>(nullptr), reinterpret_cast<void*>(1), reinterpret_cast<void*>(2), theirs}) {
            void* const queue = wrap(device, stream);
            arrowdevice_native_queue again{};
            must(table().queue_get_native, queue, &again);
            expect(again.queue == stream, "another stream came back");
            finish(queue);
            table().queue_destroy(queue);
          }
          void* const other = drivers::create_stream(1);
          arrowdevice_native_queue native{};
          native.queue = other;
          void* queue = nullptr;
          const std::string message = must_fail_once(EINVAL, table().queue_wrap, device, &native, &queue);
          expect(contains(message, "GPU 1") && contains(message, "GPU 0"), message);
          drivers::destroy_stream(0, theirs);  // the application owns a wrapped stream
          drivers::destroy_stream(1, other);
        }) == "");
}

TEST_CASE("the backend uses the vendor's library that the process has loaded already") {
  if (vendor().device != ARROW_DEVICE_ROCM) return;  // libcuda.so.1 is the only name of the other vendor's library
  const Variable old("STANDIN_HIP_VERSION", "40500000");
  CHECK(in_own_process([] {
          const std::string older = std::string(std::getenv("STANDIN_OLDER")) + "/libamdhip64.so.5";
          expect(::dlopen(older.c_str(), RTLD_NOW) != nullptr, "there is no " + older);
          int64_t n = 0;
          const std::string said = must_fail_once(ENODEV, table().device_count, vendor().device, &n);
          expect(contains(said, "libamdhip64.so.5 is HIP 4.5"), said);
        }) == "");
}

TEST_CASE("contexts are wrapped if the vendor has contexts") {
  const bool has_contexts = is_cuda();
  CHECK((table().device_wrap != nullptr) == has_contexts);
  CHECK((table().device_unwrap != nullptr) == has_contexts);
}

TEST_CASE("a queue waits for a foreign event by its address and leaves it to its owner") {
  CHECK(in_own_process([] {
          void* const device = gpu(0);
          void* const stream = drivers::create_stream(1);
          void* theirs = drivers::create_event(1);
          drivers::record(1, theirs, stream);
          auto* event = output_of(table().event_import, device, &theirs);
          void* const queue = create_queue(device);
          must(table().queue_wait_event, queue, event);
          expect(calls(vendor().wait_on) == 1, "the queue does not wait for it");
          must(table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
          table().event_destroy(event);
          drivers::destroy_event(1, theirs);
          theirs = nullptr;
          must_fail_once(EINVAL, table().event_import, gpu(0), &theirs, &event);
          must_fail_once(EINVAL, table().event_import, gpu(0), nullptr, &event);
          table().queue_destroy(queue);
          drivers::destroy_stream(1, stream);
        }) == "");
}

TEST_CASE("a wait times out, and a later wait for the same event succeeds") {
  const Variable slow("STANDIN_LATENCY_US", "200000");
  CHECK(in_own_process([] {
          Pending work(gpu(0));
          void* const event = record(work.queue());
          must_fail_once(ETIMEDOUT, table().event_wait, event, ARROWDEVICE_POLL);
          must_fail_once(ETIMEDOUT, table().event_wait, event, 1'000'000);
          must(table().event_wait, event, 60'000'000'000);
          table().event_destroy(event);
        }) == "");
}

TEST_CASE("the driver's description decides where memory is, and a wrong id is refused") {
  CHECK(in_own_process([] {
          const Pending device_memory(gpu(1), 4096);
          const Pending pinned_memory(pinned(0), 4096);
          std::vector<char> ordinary(4096);
          const auto info = [&](const void* pointer) { return output_of(table().pointer_get_info, gpu(0), pointer); };
          auto found = info(static_cast<char*>(device_memory.memory()) + 100);
          expect(found.flags == ARROWDEVICE_POINTER_KNOWN && found.device_type == vendor().device &&
                     found.device_id == 1 && found.base == device_memory.memory() && found.size == 4096,
                 "device memory is described as something else");
          found = info(pinned_memory.memory());
          expect(found.flags == (ARROWDEVICE_POINTER_KNOWN | ARROWDEVICE_POINTER_HOST_READABLE) &&
                     found.device_type == vendor().pinned && found.device_id == 0,
                 "pinned memory is described as something else");
          expect(info(ordinary.data()).flags == 0, "ordinary memory is known to the driver");
          drivers::register_memory(ordinary.data(), ordinary.size());
          found = info(ordinary.data());
          expect((found.flags & ARROWDEVICE_POINTER_KNOWN) != 0, "registered memory is not known");
          drivers::unregister_memory(ordinary.data());

          const ArrowDeviceType type = vendor().device;
          const void* const buffer = device_memory.memory();
          expect(locate(type, 1, buffer) == gpu(1), "another device was found");
          void* located = nullptr;
          const std::string message = must_fail_once(EINVAL, table().device_locate, type, 0, buffer, nullptr, &located);
          expect(contains(message, "GPU 1") && contains(message, "GPU 0"), message);
        }) == "");
}

TEST_CASE("regions go to the driver as one batch if it has batches, else one by one") {
  CHECK(in_own_process([] {
          constexpr int64_t kPiece = 1000;
          constexpr int kPieces = 3;
          void* const device = gpu(0);
          void* const host = allocate(pinned(0), 2 * kPieces * kPiece);
          void* const there = allocate(device, kPieces * kPiece);
          auto* const sent = static_cast<char*>(host);
          auto* const received = sent + kPieces * kPiece;
          for (int64_t i = 0; i < kPieces * kPiece; ++i) sent[i] = static_cast<char>(i % 101);
          std::vector<arrowdevice_backend_region> in, out;
          for (int64_t i = 0; i < kPieces; ++i) {
            in.push_back({device, there, i * kPiece, nullptr, sent, i * kPiece, kPiece, 0});
            out.push_back({nullptr, received, i * kPiece, device, there, i * kPiece, kPiece, 0});
          }
          const bool takes_batches = is_cuda();
          void* const own = create_queue(device);
          void* const legacy = wrap(device, nullptr);
          for (void* const queue : {own, legacy}) {
            const int64_t batches = calls("cuMemcpyBatchAsync");
            const int64_t overlapping = calls("overlapping batch");
            const int64_t copies = calls(vendor().copy);
            for (const auto* const regions : {&in, &out}) {
              must(table().queue_copy, queue, regions->data(), kPieces);
            }
            const bool in_batches = takes_batches && queue == own;
            expect(calls("cuMemcpyBatchAsync") - batches == (in_batches ? 2 : 0), "another number of batches");
            expect(calls("overlapping batch") - overlapping == (in_batches ? 2 : 0), "kernels wait for the copies");
            expect(calls(vendor().copy) - copies == (in_batches ? 0 : 2 * kPieces), "another number of copies");
            finish(queue);
            expect(std::equal(sent, received, received), "the bytes changed");
            std::fill(received, received + kPieces * kPiece, '\0');
            table().queue_destroy(queue);
          }
          free_memory(device, there);
          free_memory(pinned(0), host);
        }) == "");
}

// Sends bytes to the GPU in pieces of 8 bytes and back, and returns the code.
int send_in_pieces(int64_t pieces) {
  constexpr int64_t kPiece = 8;
  const int64_t size = pieces * kPiece;
  void* const device = gpu(0);
  void* const host = allocate(pinned(0), 2 * size);
  void* const there = allocate(device, size);
  auto* const sent = static_cast<char*>(host);
  auto* const received = sent + size;
  for (int64_t i = 0; i < size; ++i) sent[i] = static_cast<char>(i % 101);
  std::vector<arrowdevice_backend_region> in;
  for (int64_t i = 0; i < pieces; ++i) {
    in.push_back({device, there, i * kPiece, nullptr, sent, i * kPiece, kPiece, 0});
  }
  void* const queue = create_queue(device);
  const int code = table().queue_copy(queue, in.data(), pieces, nullptr);
  if (code == 0) {
    copy(queue, region(nullptr, received, device, there, size));
    finish(queue);
    expect(std::equal(sent, received, received), "the bytes changed");
  }
  table().queue_destroy(queue);
  free_memory(device, there);
  free_memory(pinned(0), host);
  return code;
}

TEST_CASE("a batch is divided, and after a failed batch all copies are single") {
  if (vendor().device != ARROW_DEVICE_CUDA) return;  // HIP has none
  const std::string batch = "cuMemcpyBatchAsync";
  CHECK(in_own_process([&] {
          expect(send_in_pieces(2500) == 0 && calls(batch) == 3, "another number of batches");
          drivers::fail_nth(batch, 2, 999);
          expect(send_in_pieces(2500) == 0 && calls(batch) == 5, "the failed batch was not the last");
          const int64_t copies = calls(vendor().copy);
          expect(send_in_pieces(2500) == 0 && calls(batch) == 5, "another batch was tried");
          expect(calls(vendor().copy) == copies + 2501, "another number of copies");
        }) == "");
  CHECK(in_own_process([&] {
          drivers::fail_nth(batch, 1, 900);  // the stream is captured, which does not speak against batches
          expect(send_in_pieces(3) == EBUSY, "it was copied in spite of a capture");
          expect(send_in_pieces(3) == 0 && calls(batch) == 2, "batches were given up");
        }) == "");
  const Variable without("ARROWDEVICE_CUDA_WITHOUT", "batches");
  CHECK(in_own_process(
            [&] { expect(send_in_pieces(3) == 0 && calls(batch) == 0, "a batch in spite of the variable"); }) == "");
  const Variable unknown("ARROWDEVICE_CUDA_WITHOUT", "batches,brakes");
  CHECK(contains(in_own_process([&] { gpu(0); }), "ARROWDEVICE_CUDA_WITHOUT: \"brakes\" is none of batches"));
}

TEST_CASE("ARROWDEVICE_CUDA_WITH refuses words that it does not know") {
  if (vendor().device != ARROW_DEVICE_CUDA) return;
  const Variable unknown("ARROWDEVICE_CUDA_WITH", "peers");
  CHECK(contains(in_own_process([&] { gpu(0); }), "ARROWDEVICE_CUDA_WITH: \"peers\" is none of peer_access"));
}

TEST_CASE("a MIG partition has a UUID of its own, if the driver can tell") {
  if (vendor().device != ARROW_DEVICE_CUDA) return;
  const Variable mig("STANDIN_MIG", "1");
  const std::pair<const char*, const char*> kUuids[] = {{"12080", "standin for mig"}, {"11030", "standin for cud"}};
  for (const auto& expected : kUuids) {
    const Variable driver("STANDIN_DRIVER_VERSION", expected.first);
    CHECK(in_own_process([&] {
            const auto info = output_of(table().device_get_info, gpu(0));
            expect(std::memcmp(info.uuid, expected.second, 15) == 0,
                   std::string("it is ") + std::string(reinterpret_cast<const char*>(info.uuid), 15));
          }) == "");
  }
}

TEST_CASE("managed memory that the CPU shares is prefetched to the GPU of its queue") {
  if (vendor().device != ARROW_DEVICE_CUDA) {  // the format has no managed memory for other vendors
    void* device = nullptr;
    CHECK(in_own_process([&] { must_fail_once(EINVAL, table().device_open, ARROW_DEVICE_CUDA_MANAGED, 0, &device); }) ==
          "");
    return;
  }
  for (const int shared : {2, 1}) {
    const Variable managed("STANDIN_MANAGED", std::to_string(shared).c_str());
    CHECK(in_own_process([&] {
            const Pending work(drivers::open(ARROW_DEVICE_CUDA_MANAGED, 0));
            expect(calls("cuMemPrefetchAsync") == (shared == 2 ? 1 : 0), "another number of prefetches");
          }) == "");
  }
}

}  // namespace
