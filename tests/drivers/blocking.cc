// SPDX-License-Identifier: Apache-2.0
// Copies of pageable host memory on a queue that waits for work of others. The driver waits for such a queue in the
// call, without limit. Each case has its own process, which an alarm ends if a call hangs.
#include <arrowdevice/arrowdevice.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "drivers/trips.h"
#include "drivers/vendor.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/reader.h"
#include "support/variable.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
using namespace drivers;               // NOLINT: what every line of these tests is written with

constexpr int64_t kShort = 20'000'000;  // nanoseconds
constexpr unsigned kMostSeconds = 60;

bool is_cuda() { return vendor().device == ARROW_DEVICE_CUDA; }
arrowdevice_device* gpu() { return output_of(arrowdevice_device_find_by_id, vendor().device, int64_t{0}); }
arrowdevice_device* cpu() { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, int64_t{-1}); }

const HostCase& small() { return find_case("record batch"); }
// Above the size from which copies use several threads.
const HostCase& large() {
  static const HostCase made{"large", struct_of({field("w:800"), field("l")}).not_null(), {.rows = 12'000}};
  return made;
}

Owned<ArrowDeviceArray> on_host(const HostCase& one) {
  Owned<ArrowArray> array = one.array(Ledger());
  return output_of(arrowdevice_array_from_host, array.get());
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

Owned<ArrowDeviceArray> on_gpu(const HostCase& one) {
  Owned<ArrowDeviceArray> host = on_host(one);
  Owned<ArrowDeviceArray> out;
  expect(copy(host.get(), one, gpu(), with(), out) == 0, "not copied to the GPU");
  return out;
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

// An application's stream that stands still until the gate opens, and an array with an event behind the gate.
class Gate {
 public:
  Gate() : array_(on_gpu(small())), stream_(create_stream(0)), event_(create_event(0)) {
    make_current(0);
    const auto wait = [](void* self) {
      while (!static_cast<Gate*>(self)->is_open_) std::this_thread::sleep_for(std::chrono::microseconds(100));
    };
    void (*const function)(void*) = wait;
    expect(call(is_cuda() ? "cuLaunchHostFunc" : "hipLaunchHostFunc", stream_, function, static_cast<void*>(this)) == 0,
           "no host function");
    undo_make_current();
    record(0, event_, stream_);
    array_->sync_event = &event_;
  }
  ~Gate() {
    open();
    arrowdevice_array_wait(array_.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, nullptr);
    array_.reset();
    arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr);
    destroy_event(0, event_);
    destroy_stream(0, stream_);
    trim_all();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() { is_open_ = true; }
  bool is_open() const { return is_open_; }
  ArrowDeviceArray* array() { return array_.get(); }
  void* stream() const { return stream_; }
  // Returns a queue of the library that waits for the gate.
  Queue queue() {
    arrowdevice_queue* made = nullptr;
    must(arrowdevice_queue_create, gpu(), &made);
    Queue queue(made);
    must(arrowdevice_queue_wait_array, queue.get(), array(), nullptr);
    return queue;
  }

 private:
  std::atomic<bool> is_open_{false};
  Owned<ArrowDeviceArray> array_;  // made first, which starts the driver
  void* const stream_;
  void* event_;
};

// Runs the body in a child, which the alarm ends.
std::string in_limited_child(const std::function<void()>& body) {
  return in_child([&] {
    ::alarm(kMostSeconds);
    body();
  });
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

// An exception that the header names. The wait is in the library, so that other calls of the queue go on.
TEST_CASE("a copy of bytes of pageable memory waits for its queue") {
  CHECK(in_limited_child([] {
          Gate gate;
          const Queue queue = gate.queue();
          void* there = nullptr;
          must(arrowdevice_buffer_allocate, gpu(), nullptr, queue.get(), int64_t{64}, &there);
          const std::string bytes(64, 'x');
          std::atomic<bool> has_returned{false};
          std::thread copying([&] {
            const arrowdevice_copy_region region{gpu(), there, 0, nullptr, bytes.data(), 0, 64, 0};
            must(arrowdevice_queue_copy, queue.get(), &region, 1);
            has_returned = true;
          });
          const int64_t copies = calls(vendor().copy);
          expect(arrowdevice_queue_finish(queue.get(), kShort, nullptr) == ETIMEDOUT, "the queue is idle");
          expect(!has_returned && calls(vendor().copy) == copies, "the driver waits, not the library");
          gate.open();
          copying.join();
          must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
          arrowdevice_buffer_free(gpu(), nullptr, there);
        }) == "");
}

// Returns a buffer of a pool that waits for the context.
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
          must(arrowdevice_array_wait, gate.array(), nullptr, ARROWDEVICE_NO_TIMEOUT);
          while (output_of(arrowdevice_pool_get_stats, waiting.pool.get()).allocations < 1000) {
            void* const third = waiting.allocate();
            const bool is_reused = third == first;
            arrowdevice_buffer_free(gpu(), nullptr, third);
            if (is_reused) break;
          }
          arrowdevice_buffer_free(gpu(), nullptr, second);
          const auto stats = output_of(arrowdevice_pool_get_stats, waiting.pool.get());
          expect(stats.allocations < 1000 && stats.driver_allocations == 2, "memory was not reused later");
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
            void* more = nullptr;
            expect(arrowdevice_buffer_allocate(gpu(), waiting.pool.get(), nullptr, 4096, &more, nullptr) == ENOMEM,
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
            return;
          }
          const WaitingPool waiting;
          void* const buffer = waiting.allocate();
          void* const stream = create_stream(0);
          begin_capture(0, stream, kRelaxedCapture);
          arrowdevice_buffer_free(gpu(), nullptr, buffer);
          expect(!end_capture(0, stream), "the capture is still valid");
          expect(waiting.allocate() != buffer, "memory was reused that may be in use");
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

}  // namespace
