// SPDX-License-Identifier: Apache-2.0
// Memory of the library's own pools, copies between GPUs in such memory, and objects that the library reuses. Each case
// has its own process, which an alarm ends if a call hangs.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "drivers/gate.h"
#include "drivers/trips.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/reader.h"
#include "support/variable.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
using namespace drivers;               // NOLINT: what every line of these tests is written with

constexpr int64_t kSize = 4096;

arrowdevice_device* gpu_with(int64_t id) { return output_of(arrowdevice_device_find_by_id, vendor().device, id); }

Pool pool_on(arrowdevice_device* device, arrowdevice_pool_options options = sized<arrowdevice_pool_options>()) {
  return Pool(output_of(arrowdevice_pool_create, device, &options));
}

void* allocate(arrowdevice_pool* pool, arrowdevice_queue* queue) {
  return output_of(arrowdevice_buffer_allocate, gpu(), pool, queue, kSize);
}

void give_back(void* buffer) { arrowdevice_buffer_free(gpu(), nullptr, buffer); }

// Counts calls of the driver since it was made.
class Count {
 public:
  explicit Count(std::string call) : call_(std::move(call)), before_(calls(call_)) {}
  int64_t get() const { return calls(call_) - before_; }

 private:
  const std::string call_;
  const int64_t before_;
};

HostCase table(int64_t rows) {
  return {"table", struct_of({field("l"), field("u"), field("i")}).not_null(), {.rows = rows}};
}

// Copies a table from device to device, from the host and back to it, and compares the values.
void copy_along(const HostCase& one, const std::vector<arrowdevice_device*>& way,
                const arrowdevice_copy_options* options = nullptr) {
  const auto schema = one.schema();
  Owned<ArrowArray> array = one.array(Ledger());
  Owned<ArrowDeviceArray> last = output_of(arrowdevice_array_from_host, array.get());
  for (arrowdevice_device* const to : way) {
    last = output_of(arrowdevice_array_copy, last.get(), schema.get(), to, std::exchange(options, nullptr));
  }
  last = output_of(arrowdevice_array_copy, last.get(), schema.get(), cpu(), nullptr);
  const auto twin = one.array(Ledger());
  const auto changed = difference(*schema, *twin, 0, *schema, last->array, 0, twin->length);
  expect(changed.empty(), "the values changed: " + changed);
}

TEST_CASE("an allocation does not wait for memory that another library frees") {
  CHECK(in_limited_child([] {
          Gate gate;
          void* const stream = create_stream(0);
          void* memory = nullptr;
          make_current(0);
          must_call_vendor("cuMemAllocAsync", "hipMallocAsync", &memory, size_t{kSize}, stream);
          must_call_vendor("cuStreamWaitEvent", "hipStreamWaitEvent", stream,
                           *static_cast<void**>(gate.array()->sync_event), 0U);
          must_call_vendor(vendor().free_on, vendor().free_on, memory, stream);
          undo_make_current();
          copy_along(table(1'000), {gpu()});
          gate.open();
          destroy_stream(0, stream);
        }) == "");
}

TEST_CASE("a queue gets memory without a wait, and other queues get it after its work") {
  CHECK(in_limited_child([] {
          const Pool pool = pool_on(gpu());
          Gate gate;
          const Queue queue = gate.queue();
          const Count waits(vendor().synchronize);
          void* const memory = allocate(pool.get(), queue.get());
          expect(waits.get() == 0, "the allocation waited");
          give_back(memory);
          void* const other = allocate(pool.get(), nullptr);
          expect(other != memory, "the memory was reused before it was there");
          gate.open();
          must(arrowdevice_queue_finish, queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
          void* const again = allocate(pool.get(), nullptr);
          expect(again == memory, "the memory was not reused");
          give_back(again);
          give_back(other);
        }) == "");
}

TEST_CASE("a queue reuses the memory of its own copies before they are complete") {
  CHECK(in_limited_child([] {
          {
            const Pool pool = pool_on(gpu());
            Gate gate;
            const Queue queue = gate.queue();
            const Queue other = gate.queue();
            const auto schema = small().schema();
            const Owned<ArrowDeviceArray> host = on_host(small());
            const auto copy_on = [&](const Queue& on) {
              auto options = sized<arrowdevice_copy_options>();
              options.flags = ARROWDEVICE_COPY_ASYNC;
              options.queue = on.get();
              options.pool = pool.get();
              return Owned<ArrowDeviceArray>(
                  output_of(arrowdevice_array_copy, host.get(), schema.get(), gpu(), &options));
            };
            const auto allocations = [&] {
              return output_of(arrowdevice_pool_get_stats, pool.get()).driver_allocations;
            };
            copy_on(queue).reset();
            copy_on(other).reset();
            expect(allocations() == 2, "memory in flight was given to another queue");
            Owned<ArrowDeviceArray> there = copy_on(queue);
            expect(allocations() == 2, "the queue's memory was not reused");
            gate.open();
            Owned<ArrowDeviceArray> back = output_of(arrowdevice_array_copy, there.get(), schema.get(), cpu(), nullptr);
            const auto twin = small().array(Ledger());
            const auto changed = difference(*schema, *twin, 0, *schema, back->array, 0, twin->length);
            expect(changed.empty(), "the values changed: " + changed);
          }
          trim_all();
        }) == "");
}

TEST_CASE("memory of a copy that failed early goes to others after the queue's work") {
  CHECK(in_limited_child([] {
          const Pool pool = pool_on(gpu());
          Gate gate;
          const Queue queue = gate.queue();
          auto options = sized<arrowdevice_copy_options>();
          options.flags = ARROWDEVICE_COPY_ASYNC;
          options.queue = queue.get();
          options.pool = pool.get();
          options.timeout_ns = 1'000'000;
          auto* const pinned = output_of(arrowdevice_device_find_by_id, vendor().pinned, int64_t{0});
          auto limits = sized<arrowdevice_pool_options>();
          limits.max_bytes = 1;
          const Pool no_pinned = pool_on(pinned, limits);
          must(arrowdevice_device_set_pool, pinned, no_pinned.get());
          const auto schema = small().schema();
          const Owned<ArrowDeviceArray> host = on_host(small());
          Owned<ArrowDeviceArray> out;
          const int code = arrowdevice_array_copy(host.get(), schema.get(), gpu(), &options, out.out(), nullptr);
          expect(code == ETIMEDOUT, "another code: " + std::to_string(code));
          arrowdevice_pool_stats stats = output_of(arrowdevice_pool_get_stats, pool.get());
          expect(stats.used_bytes == 0 && stats.cached_bytes > 0, "the memory is not with the pool");
          void* const other = output_of(arrowdevice_buffer_allocate, gpu(), pool.get(), nullptr, stats.cached_bytes);
          stats = output_of(arrowdevice_pool_get_stats, pool.get());
          expect(stats.driver_allocations == 2, "the memory was reused before it was there");
          gate.open();
          give_back(other);
          must(arrowdevice_device_set_pool, pinned, nullptr);
          trim_all();
        }) == "");
}

TEST_CASE("arrays of the library are copied directly between GPUs, in one call") {
  CHECK(in_limited_child([] {
          auto* const peer = gpu_with(1);
          const HostCase one{"one", struct_of({field("l"), field("i"), field("b")}).not_null(), {.rows = 1'001}};
          copy_along(one, {gpu(), peer, gpu()});
          const Count staged("staged copy");
          const Count by_name(is_cuda() ? "cuMemcpyPeerAsync" : "hipMemcpyPeerAsync");
          const Count copies(vendor().copy);
          const Count batches("cuMemcpyBatchAsync");
          copy_along(one, {gpu(), peer, gpu(), gpu()});
          expect(staged.get() == 0, "staged in host memory");
          expect(by_name.get() == 0, "by the call that names both GPUs");
          const int64_t made = copies.get() + batches.get();
          expect(made == 5, std::to_string(made) + " copies");
          trim_all();
        }) == "");
}

// A driver is reported to write nothing if the call that names both GPUs has a target that others may use.
TEST_CASE("a pool is not shared during a copy from another GPU's foreign memory") {
  CHECK(in_limited_child([] {
          const char* const by_name = is_cuda() ? "cuMemcpyPeerAsync" : "hipMemcpyPeerAsync";
          const Count grants(is_cuda() ? "cuMemPoolSetAccess" : "hipMemPoolSetAccess");
          auto* const peer = gpu_with(1);
          Owned<ArrowDeviceArray> there = on_gpu(small());
          void* const target = allocate(nullptr, nullptr);
          uint64_t source = 0;
          make_current(1);
          expect(call(vendor().allocate, &source, static_cast<size_t>(kSize)) == 0, "no foreign memory");
          undo_make_current();
          const Queue queue(output_of(arrowdevice_queue_create, gpu()));
          const Count copies(by_name);
          hold_call(by_name);
          std::thread copying([&] {
            const arrowdevice_copy_region region{gpu(), target, 0, peer, reinterpret_cast<void*>(source), 0, kSize, 0};
            must(arrowdevice_queue_copy, queue.get(), &region, int64_t{1});
          });
          while (copies.get() == 0) std::this_thread::yield();
          const auto copy_to_peer = [&] {
            const auto schema = small().schema();
            Owned<ArrowDeviceArray> copied =
                output_of(arrowdevice_array_copy, there.get(), schema.get(), peer, nullptr);
          };
          std::thread sharing(copy_to_peer);  // must make the same call, which is held
          while (copies.get() == 1 && grants.get() == 0) std::this_thread::yield();
          const int64_t granted = grants.get();
          hold_call("");
          copying.join();
          sharing.join();
          expect(granted == 0, "the pool was shared during the copy");
          copy_to_peer();
          expect(grants.get() > 0, "the pool was not shared later");
          must(arrowdevice_queue_finish, queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
          give_back(target);
          make_current(1);
          expect(call(vendor().free, source) == 0, "the foreign memory is not freed");
          undo_make_current();
          there.reset();
          trim_all();
        }) == "");
}

TEST_CASE("part of an array of the library has zeros behind it on another GPU") {
  CHECK(in_limited_child([] {
          const HostCase whole = table(1'000);
          const auto schema = whole.schema();
          Owned<ArrowArray> array = whole.array(Ledger());
          Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, array.get());
          Owned<ArrowDeviceArray> there = output_of(arrowdevice_array_copy, host.get(), schema.get(), gpu(), nullptr);
          Owned<ArrowDeviceArray> part =
              output_of(arrowdevice_array_slice, there.get(), schema.get(), int64_t{0}, int64_t{11});
          Owned<ArrowDeviceArray> moved =
              output_of(arrowdevice_array_copy, part.get(), schema.get(), gpu_with(1), nullptr);
          auto* const column = moved->array.children[0];
          std::vector<uint64_t> values(16);
          const Queue queue(output_of(arrowdevice_queue_create, gpu_with(1)));
          arrowdevice_copy_region region{};
          region.dst = values.data();
          region.src_device = gpu_with(1);
          region.src = column->buffers[1];
          region.size = 128;
          must(arrowdevice_queue_copy, queue.get(), &region, int64_t{1});
          must(arrowdevice_queue_finish, queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
          for (size_t i = 11; i < values.size(); ++i) expect(values[i] == 0, "bytes of other rows are behind the rows");
          for (auto* const one : {&part, &moved, &there, &host}) one->reset();
          trim_all();
        }) == "");
}

// Memory of an application on GPU 1.
arrowdevice_pool_options application_memory() {
  auto options = sized<arrowdevice_pool_options>();
  options.allocate = [](void*, int64_t size, int64_t, void*, void** out) {
    make_current(1);
    const int code = call(vendor().allocate, out, static_cast<size_t>(size));
    undo_make_current();
    return code;
  };
  options.deallocate = [](void*, void* memory, int64_t, void*) {
    make_current(1);
    call(vendor().free, memory);
    undo_make_current();
  };
  return options;
}

TEST_CASE("memory of an application is copied directly if it asks for peer access") {
  for (const bool asks : {false, true}) {
    INFO("asks " << asks);
    CHECK(in_limited_child([&] {
            const Variable with("ARROWDEVICE_CUDA_WITH", asks ? "peer_access" : "");
            const Pool pool = pool_on(gpu_with(1), application_memory());
            auto options = sized<arrowdevice_copy_options>();
            options.pool = pool.get();
            copy_along(table(1'000), {gpu_with(1), gpu()}, &options);
            copy_along(table(1'000), {gpu(), gpu_with(1)});  // GPU 1 may use the pool of GPU 0 from now on
            const Count staged("staged copy");
            copy_along(table(1'000), {gpu_with(1), gpu()}, &options);
            expect((staged.get() > 0) == (is_cuda() && !asks), std::to_string(staged.get()) + " staged copies");
            trim_all();
          }) == "");
  }
}

TEST_CASE("copies create no events, and pinned memory of few sizes") {
  CHECK(in_limited_child([] {
          for (int i = 0; i < 3; ++i) copy_along(table(1'000), {gpu(), gpu_with(1)});
          const Count events(vendor().create_event);
          const Count copies(vendor().copy);
          for (int i = 0; i < 20; ++i) copy_along(table(1'000), {gpu(), gpu_with(1)});
          expect(copies.get() > 0, "no copies were counted");
          expect(events.get() == 0, std::to_string(events.get()) + " events were created");
          const Count pinned(vendor().allocate_pinned);
          for (int64_t rows = 1; rows < 200'000; rows = rows * 5 / 4 + 1) copy_along(table(rows), {gpu()});
          expect(pinned.get() <= 5, std::to_string(pinned.get()) + " allocations of pinned memory");
          trim_all();
        }) == "");
}

TEST_CASE("a thread that waits for long work does not spin") {
  CHECK(in_limited_child([] {
          const Count spinning("spinning wait");
          const Count blocking(is_cuda() ? "cuEventSynchronize" : "hipEventSynchronize");
          Gate gate;
          const Queue queue = gate.queue();
          std::thread opening([&] {
            while (blocking.get() == 0) std::this_thread::yield();
            gate.open();
          });
          must(arrowdevice_queue_finish, queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
          opening.join();
          Gate foreign;  // the event of an application
          const Count questions(vendor().query);
          std::thread opening_later([&] {
            while (questions.get() < 10) std::this_thread::yield();
            foreign.open();
          });
          must(arrowdevice_array_wait, foreign.array(), nullptr, int64_t{ARROWDEVICE_NO_TIMEOUT});
          opening_later.join();
          expect(spinning.get() == 0, "a thread waited without sleep");
        }) == "");
}

// Copies to a GPU asynchronously, and releases the copy before it is complete.
void release_pending_copy(arrowdevice_device* to, arrowdevice_pool* pool, arrowdevice_queue* queue) {
  const auto schema = small().schema();
  const Owned<ArrowDeviceArray> host = on_host(small());
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ASYNC;
  options.queue = queue;
  options.pool = pool;
  Owned<ArrowDeviceArray> out = output_of(arrowdevice_array_copy, host.get(), schema.get(), to, &options);
  expect(out->sync_event != nullptr, "the copy is not asynchronous");
  out.reset();
}

TEST_CASE("an application's allocator gets its memory back after pending copies") {
  CHECK(in_limited_child([] {
          auto options = application_memory();
          options.max_cached_bytes = -1;
          const Count freed(vendor().free);
          {
            const Pool pool = pool_on(gpu_with(1), options);
            const Queue queue(output_of(arrowdevice_queue_create, gpu_with(1)));
            hold();
            release_pending_copy(gpu_with(1), pool.get(), queue.get());
            expect(freed.get() == 0, "memory in flight was freed");
            resume();
            must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
            expect(freed.get() == 1, "the allocator did not get its memory back");
          }
          trim_all();
        }) == "");
}

TEST_CASE("a pool that waits for the context gives memory in flight to no queue") {
  if (!is_cuda()) return;  // HIP has no such event
  CHECK(in_limited_child([] {
          {
            auto options = sized<arrowdevice_pool_options>();
            options.flags = ARROWDEVICE_POOL_WAIT_FOR_CONTEXT;
            const Pool pool = pool_on(gpu(), options);
            Gate gate;
            const Queue queue(output_of(arrowdevice_queue_create, gpu()));
            for (int i = 0; i < 2; ++i) release_pending_copy(gpu(), pool.get(), queue.get());
            const auto stats = output_of(arrowdevice_pool_get_stats, pool.get());
            expect(stats.driver_allocations == 2, "memory that a kernel may use was reused");
            gate.open();
          }
          trim_all();
        }) == "");
}

TEST_CASE("memory for a queue that is captured is ready for all queues") {
  CHECK(in_limited_child([] {
          {
            const Pool pool = pool_on(gpu());
            void* const stream = create_stream(0);
            auto native = sized<arrowdevice_native_queue>();
            native.queue = stream;
            {
              const Queue queue(output_of(arrowdevice_queue_wrap, gpu(), &native));
              begin_capture(0, stream, kRelaxedCapture);
              for (int i = 0; i < 3; ++i) give_back(allocate(pool.get(), queue.get()));
              const auto stats = output_of(arrowdevice_pool_get_stats, pool.get());
              expect(stats.used_bytes == 0 && stats.driver_allocations == 1, "the memory is not with the pool");
              expect(end_capture(0, stream), "the capture was ended");
            }
            destroy_stream(0, stream);
          }
          trim_all();
        }) == "");
}

TEST_CASE("the driver's pool keeps at most a quarter of the GPU's memory") {
  CHECK(in_limited_child([] {
          copy_along(table(1'000), {gpu()});
          int64_t free_bytes = 0;
          int64_t total_bytes = 0;
          must(arrowdevice_device_get_memory_info, gpu(), &free_bytes, &total_bytes);
          const int64_t threshold = reinterpret_cast<int64_t (*)(int)>(find("standin_pool_threshold"))(0);
          expect(threshold == total_bytes / 4,
                 std::to_string(threshold) + " of " + std::to_string(total_bytes) + " bytes");
          trim_all();
        }) == "");
}

TEST_CASE("trimming a pool gives memory of the driver's pool back") {
  CHECK(in_limited_child([] {
          copy_along(table(1'000), {gpu()});
          const Count trims(is_cuda() ? "cuMemPoolTrimTo" : "hipMemPoolTrimTo");
          const Count waits(vendor().synchronize);
          const Count destroyed(is_cuda() ? "cuEventDestroy_v2" : "hipEventDestroy");
          trim_all();
          expect(trims.get() > 0, "the driver's pool was not trimmed");
          expect(waits.get() > 0, "the driver has not seen that memory was freed");
          expect(destroyed.get() > 0, "no event was destroyed");
        }) == "");
}

TEST_CASE("an array in managed memory is prefetched in one call") {
  if (!is_cuda()) return;  // HIP's managed memory has no device type
  CHECK(in_limited_child([] {
          auto* const managed =
              output_of(arrowdevice_device_find_by_id, ArrowDeviceType{ARROW_DEVICE_CUDA_MANAGED}, int64_t{0});
          const auto schema = table(1'000).schema();
          Owned<ArrowArray> array = table(1'000).array(Ledger());
          Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, array.get());
          Owned<ArrowDeviceArray> there = output_of(arrowdevice_array_copy, host.get(), schema.get(), gpu(), nullptr);
          const Count prefetches("cuMemPrefetchAsync");
          const Queue queue(output_of(arrowdevice_queue_create, gpu()));
          void* const memory = output_of(arrowdevice_buffer_allocate, managed, nullptr, nullptr, kSize);
          arrowdevice_copy_region regions[3]{};
          for (int i = 0; i < 3; ++i) {
            regions[i].dst_device = managed;
            regions[i].dst = memory;
            regions[i].dst_offset = 64 * (2 - i);
            regions[i].src_device = gpu();
            regions[i].src = there->array.children[0]->buffers[1];
            regions[i].size = 32;
          }
          must(arrowdevice_queue_copy, queue.get(), regions, int64_t{3});
          must(arrowdevice_queue_finish, queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
          expect(prefetches.get() == 1, std::to_string(prefetches.get()) + " prefetches");
          arrowdevice_buffer_free(managed, nullptr, memory);
          for (auto* const one : {&there, &host}) one->reset();
          trim_all();
        }) == "");
}

TEST_CASE("memory that a GPU uses by the host's page tables is not staged") {
  if (!is_cuda()) return;
  CHECK(in_limited_child([] {
          const Variable pages("STANDIN_HOST_PAGES", "1");
          const Variable threads("ARROWDEVICE_COPY_THREADS", "3");
          const HostCase large{"large", struct_of({field("l")}).not_null(), {.rows = 2 << 20}};
          copy_along(large, {gpu()});
          const auto counters = output_of(arrowdevice_device_get_counters, gpu());
          expect(counters.bytes_in > 16 << 20, "the table is small");
          expect(counters.staged_bytes < 1 << 20, std::to_string(counters.staged_bytes) + " bytes were staged");
          trim_all();
        }) == "");
}

}  // namespace
