// SPDX-License-Identifier: Apache-2.0
// Tests guarantees of the Level Zero backend beyond conformance. Each case has its own process.
#include <sys/mman.h>
#include <unistd.h>

#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <memory>
#include <numeric>

#include "drivers/level_zero/application.h"
#include "drivers/level_zero/table_calls.h"
#include "drivers/table.h"
#include "support/catch.h"
#include "support/variable.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::Variable;
using drivers::wrap;
using level_zero::calls;
using level_zero::gpu;
using level_zero::kSlow;
using level_zero::locate;
using level_zero::wrap;
using level_zero::ze;

TEST_CASE("a device reports its properties") {
  CHECK(in_child([] {
          arrowdevice_device_info info{};
          must(table().device_get_info, gpu(1), &info);
          expect(std::string(info.name) == "Stand-in for an Intel GPU 1" && std::string(info.vendor) == "Intel",
                 "name");
          expect(std::memcmp(info.uuid, "standin for zer\1", sizeof info.uuid) == 0, "the UUID is another");
          expect(info.total_memory == int64_t{8} << 30, "another size of memory");
          expect(info.flags == (ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_WAIT_BLOCKS |
                                ARROWDEVICE_DEVICE_COPY_BLOCKS | ARROWDEVICE_DEVICE_SHAREABLE),
                 "other flags");
        }) == "");
}

TEST_CASE("a descriptor that is no memory of a device is refused with the reason") {
  CHECK(in_child([] {
          int ends[2];
          expect(::pipe(ends) == 0, "no pipe");
          const int file = ::memfd_create("other", MFD_CLOEXEC);
          expect(::ftruncate(file, 4096) == 0, "no file");
          for (const int descriptor : {ends[0], file, 12345}) {
            arrowdevice_memory_record record{};
            record.struct_size = sizeof record;
            record.kind = ARROWDEVICE_MEMORY_DESCRIPTOR;
            record.descriptor = descriptor;
            record.size = 4096;
            arrowdevice_error error{};
            void* memory = nullptr;
            int64_t size = 0;
            expect(table().memory_import(gpu(0), &record, &memory, &size, &error) == EINVAL, error.message);
            expect(contains(error.message, "is no memory of a device"), error.message);
          }
        }) == "");
}

TEST_CASE("a driver without external memory has no memory that other processes can open") {
  CHECK(in_child([] {
          ::setenv("STANDIN_NO_DESCRIPTORS", "1", 1);
          arrowdevice_device_info info{};
          must(table().device_get_info, gpu(0), &info);
          expect((info.flags & ARROWDEVICE_DEVICE_SHAREABLE) == 0, "the flag");
          arrowdevice_error error{};
          void* memory = nullptr;
          expect(table().shareable_allocate(gpu(0), nullptr, 64, 64, &memory, &error) == ENOTSUP, error.message);
          expect(contains(error.message, "no memory that other processes can open"), error.message);
        }) == "");
}

// If no other driver has a GPU, the message names the driver's failure.
TEST_CASE("GPUs of one driver are listed even if another driver fails") {
  const bool has_other_driver = std::string(std::getenv("ZE_ENABLE_ALT_DRIVERS")).find(',') != std::string::npos;
  for (const char* const failing : {"zeDriverGetApiVersion", "zeDeviceGet", "zeDeviceGetProperties"}) {
    INFO(failing);
    CHECK(in_child([&] {
            level_zero::device(0);  // the loader has sorted the drivers by then
            level_zero::fail_nth(failing, 1);
            int64_t count = 0;
            if (has_other_driver) {
              must(table().device_count, ARROW_DEVICE_ONEAPI, &count);
              expect(count == 2, std::to_string(count) + " devices");
              void* const queue = create_queue(gpu(1));
              table().queue_destroy(queue);
              return;
            }
            const std::string message = must_fail_once(EIO, table().device_count, ARROW_DEVICE_ONEAPI, &count);
            expect(message == std::string(failing) + ": ZE_RESULT_ERROR_UNKNOWN (0x7ffffffe)", message);
          }) == "");
  }
}

TEST_CASE("ids count the devices driver by driver, in the same order every time") {
  CHECK(in_child([] {
          int64_t count = output_of(table().device_count, ARROW_DEVICE_ONEAPI);
          arrowdevice_native_device first{}, again{};
          for (int64_t id = 0; id < count; ++id) {
            must(table().device_get_native, gpu(id), &first);
            must(table().device_get_native, gpu(id), &again);
            expect(first.device == again.device && first.context == again.context, "other handles");
            if (id < 2) expect(first.device == level_zero::device(static_cast<uint32_t>(id)), "another device");
            expect((first.platform == level_zero::driver()) == (id < 2), "another driver");
          }
          void* none = nullptr;
          must_fail_once(ENODEV, table().device_open, ARROW_DEVICE_ONEAPI, count, &none);
          must_fail_once(EINVAL, table().device_open, ARROW_DEVICE_CUDA, 0, &none);
        }) == "");
}

TEST_CASE("memory is freed behind the work on it, without waiting") {
  const Variable slow("STANDIN_LATENCY_US", kSlow);
  CHECK(in_child([] {
          Pending work(gpu(0));
          work.free_behind();
          expect(calls("zeMemFree") == 0, "it was freed while work on it was pending");
          work.finish();
          const Pending more(gpu(0));  // the next allocation frees memory whose work has finished
          expect(calls("zeMemFree") == 1, "it was not freed when the work was over");
        }) == "");
}

TEST_CASE("later calls destroy queues and events that were in use when released") {
  const Variable slow("STANDIN_LATENCY_US", kSlow);
  for (const char* const version : {"1.6", "1.4"}) {
    const Variable older("STANDIN_ZE_API_VERSION", version);
    CHECK(in_child([] {
            auto work = std::make_unique<Pending>(gpu(0));
            void* const waiter = create_queue(gpu(1));
            void* const event = record(work->queue());
            must(table().queue_wait_event, waiter, event);
            table().event_destroy(event);
            table().queue_destroy(waiter);
            expect(calls("zeCommandListDestroy") == 0, "a list was destroyed while it waited");
            expect(calls("zeEventHostSynchronize") == 0, "the CPU waited");
            work->finish();
            void* const idle = create_queue(gpu(1));
            finish(idle);
            work.reset();
            for (int i = 0; calls("zeCommandListDestroy") < 2; ++i) {
              expect(i < 1'000, "the lists were not destroyed when their work was over");
              finish(idle);
            }
            table().queue_destroy(idle);
          }) == "");
  }
}

TEST_CASE("a driver event is reused only after all queues have passed it") {
  const Variable slow("STANDIN_LATENCY_US", kSlow);
  CHECK(in_child([] {
          Pending work(gpu(0));
          void* const waiter = create_queue(gpu(1));
          void* const event = record(work.queue());
          must(table().queue_wait_event, waiter, event);
          must(table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
          finish(work.queue());  // it is not the last work on the list any more
          table().event_destroy(event);
          finish(work.queue());
          finish(waiter);
          table().queue_destroy(waiter);
        }) == "");
}

TEST_CASE("a driver failure while a queue is destroyed loses neither queue nor memory") {
  CHECK(in_child([] {
          constexpr int64_t kSize = 64;
          const std::vector<char> sent(kSize);
          void* const device = gpu(0);
          void* const queue = create_queue(device);
          void* const memory = allocate(device, kSize);
          copy(queue, region(device, memory, nullptr, sent.data(), kSize));
          level_zero::fail_nth("zeCommandListAppendBarrier", 1);
          table().buffer_free(device, queue, memory);
          level_zero::fail_nth("zeCommandListAppendBarrier", 1);
          table().queue_destroy(queue);
          // Each allocation makes the backend check for finished work.
          for (int i = 0; calls("zeCommandListDestroy") < 1 || calls("zeMemFree") < 1 + i; ++i) {
            expect(i < 100'000, "the list or the memory is lost");
            free_memory(device, allocate(device, kSize));
          }
        }) == "");
}

TEST_CASE("events are reused") {
  CHECK(in_child([] {
          void* const queue = create_queue(gpu(0));
          for (int i = 0; i < 1'000; ++i) finish(queue);
          expect(calls("zeEventPoolCreate") == 1, "more than one pool");
          expect(calls("zeEventCreate") <= 4, std::to_string(calls("zeEventCreate")) + " events of the driver");
          table().queue_destroy(queue);
        }) == "");
}

TEST_CASE("a full event pool is followed by another, and all events are distinct") {
  CHECK(in_child([] {
          void* const queue = create_queue(gpu(0));
          std::vector<void*> events;
          for (int i = 0; i < 200; ++i) events.push_back(record(queue));
          expect(calls("zeEventPoolCreate") == 4, std::to_string(calls("zeEventPoolCreate")) + " pools");
          for (void* const event : events) must(table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
          for (void* const event : events) table().event_destroy(event);
          table().queue_destroy(queue);
        }) == "");
}

TEST_CASE("a lost device stays lost, reports the reason and is not called again") {
  for (const int code : {ZE_RESULT_ERROR_DEVICE_LOST, ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET}) {
    CHECK(in_child([&] {
            void* const queue = create_queue(gpu(0));
            void* const event = record(queue);
            void* const memory = allocate(gpu(0), 64);
            level_zero::fail_nth("zeEventQueryStatus", 1, code);
            int ready = 0;
            const std::string first = must_fail_once(EIO, table().event_query, event, &ready);
            expect(contains(first, "zeEventQueryStatus: ZE_RESULT_ERROR_DEVICE_"), first);
            const int64_t before = calls("zeCommandListAppendBarrier");
            void* another = nullptr;
            const std::string then = must_fail_once(EIO, table().event_record, queue, &another);
            expect(contains(then, "failed for good") && contains(then, first), then);
            expect(calls("zeCommandListAppendBarrier") == before, "the driver was called again");
            must_fail_once(EIO, table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
            must_fail_once(EIO, table().buffer_allocate, gpu(0), nullptr, 64, 64, &another);
            table().event_destroy(event);
            table().queue_destroy(queue);
            free_memory(gpu(0), memory);
            expect(calls("zeMemFree") == 0 && calls("zeCommandListDestroy") == 0, "something was given back");
            // The other device is lost only if the driver is lost.
            if (code == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET) must(table().queue_create, gpu(1), &another);
            std::_Exit(0);  // objects on a lost device may remain
          }) == "");
  }
}

TEST_CASE("the unwrap of a lost device leaves the events in the context to the driver") {
  CHECK(in_child([] {
          void* const wrapped = wrap(0, level_zero::create_context(), level_zero::device(0));
          void* const queue = create_queue(wrapped);
          finish(queue);  // its event is kept for later
          void* const event = record(queue);
          level_zero::fail_nth("zeEventQueryStatus", 1, ZE_RESULT_ERROR_DEVICE_LOST);
          int ready = 0;
          must_fail_once(EIO, table().event_query, event, &ready);
          table().event_destroy(event);
          table().queue_destroy(queue);
          must(table().device_unwrap, wrapped);
          expect(calls("zeEventDestroy") == 0 && calls("zeEventPoolDestroy") == 0, "the driver was called again");
          std::_Exit(0);  // objects on a lost device may remain
        }) == "");
}

TEST_CASE("a wait times out, and a later wait for the same event succeeds") {
  const Variable slow("STANDIN_LATENCY_US", "200000");
  CHECK(in_child([] {
          Pending work(gpu(0));
          void* const event = record(work.queue());
          must_fail_once(ETIMEDOUT, table().event_wait, event, ARROWDEVICE_POLL);
          must_fail_once(ETIMEDOUT, table().event_wait, event, 1'000'000);
          must(table().event_wait, event, 60'000'000'000);
          table().event_destroy(event);
        }) == "");
}

TEST_CASE("a queue waits on the device within its context, and on the CPU across contexts") {
  const Variable slow("STANDIN_LATENCY_US", kSlow);
  CHECK(in_child([] {
          Pending work(gpu(0));
          void* const event = record(work.queue());
          void* const peer = create_queue(gpu(1));
          must(table().queue_wait_event, peer, event);
          expect(calls("zeEventHostSynchronize") == 0, "the CPU waited for a device of the same context");

          auto* const context = level_zero::create_context();
          void* const wrapped = wrap(0, context, level_zero::device(0));
          void* const foreign = create_queue(wrapped);
          must(table().queue_wait_event, foreign, event);
          int ready = output_of(table().event_query, event);
          expect(ready == 1, "nobody waited for a device of another context");
          finish(peer);
          table().event_destroy(event);
          table().queue_destroy(foreign);
          table().queue_destroy(peer);
          must(table().device_unwrap, wrapped);
          ze().zeContextDestroy(context);
        }) == "");
}

TEST_CASE("ordinary host memory is accepted if the device has access to all of it") {
  for (const bool reaches : {true, false}) {
    const Variable system("STANDIN_ZE_SYSTEM_MEMORY", reaches ? "1" : "0");
    CHECK(in_child([&] {
            void* const queue = create_queue(gpu(0));
            const std::vector<char> sent(64, 's');
            std::vector<char> received(64);
            const auto one = region(nullptr, received.data(), gpu(0), sent.data(), 64);
            if (reaches) {
              copy(queue, one);
              finish(queue);
              expect(received == sent, "the bytes changed");
            } else {
              must_fail_once(EINVAL, table().queue_copy, queue, &one, 1);
            }
            table().queue_destroy(queue);
          }) == "");
  }
}

TEST_CASE("the backend copies each kind of memory and describes it as the driver does") {
  CHECK(
      in_child([] {
        void* const device = gpu(0);
        arrowdevice_native_device native{};
        must(table().device_get_native, device, &native);
        auto* const context = static_cast<ze_context_handle_t>(native.context);
        ze_device_mem_alloc_desc_t of_device{};
        of_device.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
        ze_host_mem_alloc_desc_t of_host{};
        of_host.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
        void* shared = nullptr;
        level_zero::must(ze().zeMemAllocShared(context, &of_device, &of_host, 64, 64, level_zero::device(1), &shared));
        void* const host = level_zero::allocate_host(context, 64);
        void* const of_peer = level_zero::allocate(context, 1, 64);
        const std::vector<char> ordinary(64);
        const auto info = [&](const void* pointer) { return output_of(table().pointer_get_info, device, pointer); };
        constexpr uint32_t kReadable = ARROWDEVICE_POINTER_KNOWN | ARROWDEVICE_POINTER_HOST_READABLE;
        const auto is = [&](const void* pointer, uint32_t flags, int64_t id) {
          const auto found = info(static_cast<const char*>(pointer) + 10);
          return found.flags == flags && found.device_id == id && found.device_type == ARROW_DEVICE_ONEAPI &&
                 found.base == pointer && found.size == 64;
        };
        expect(is(of_peer, ARROWDEVICE_POINTER_KNOWN, 1), "device memory is described as something else");
        expect(is(shared, kReadable, 1), "shared memory is described as something else");
        expect(is(host, kReadable, 0), "host memory is described as something else");
        expect(info(ordinary.data()).flags == 0, "ordinary memory is known to the driver");
        expect(locate(0, of_peer) == gpu(1), "memory of another GPU than the array names is not taken as of that GPU");
        expect(locate(0, host) == device, "host memory is not of the device that the array names");

        void* const queue = create_queue(device);
        for (void* const memory : {shared, host}) {
          std::vector<char> sent(64), received(64);
          std::iota(sent.begin(), sent.end(), '\0');
          copy(queue, region(device, memory, nullptr, sent.data(), 64));
          copy(queue, region(nullptr, received.data(), device, memory, 64));
          finish(queue);
          expect(received == sent, "the bytes changed");
        }
        table().queue_destroy(queue);
        for (void* const memory : {shared, host, of_peer}) ze().zeMemFree(context, memory);
      }) == "");
}

TEST_CASE("allocations above the driver's usual limit ask for relaxed limits") {
  const Variable small("STANDIN_MEMORY", "1048576");
  CHECK(in_child([] {
          for (const int64_t size : {int64_t{1} << 18, int64_t{3} << 18}) free_memory(gpu(0), allocate(gpu(0), size));
          void* none = nullptr;
          const std::string message =
              must_fail_once(ENOMEM, table().buffer_allocate, gpu(0), nullptr, int64_t{2} << 20, 64, &none);
          expect(
              contains(message, "zeMemAllocDevice: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003): 2097152 bytes"),
              message);
        }) == "");
}

TEST_CASE("the environment chooses the kind of the library's memory") {
  for (const auto& [kind, call] :
       {std::pair{"device", "zeMemAllocDevice"}, {"host", "zeMemAllocHost"}, {"shared", "zeMemAllocShared"}}) {
    const Variable chosen("ARROWDEVICE_LEVEL_ZERO_MEMORY", kind);
    CHECK(in_child([&, allocates = call] {
            free_memory(gpu(0), allocate(gpu(0), 64));
            expect(calls(allocates) == 1, std::string("without ") + allocates);
          }) == "");
  }
  const Variable wrong("ARROWDEVICE_LEVEL_ZERO_MEMORY", "shred");
  CHECK(in_child([] {
          void* none = nullptr;
          const std::string message = must_fail_once(EINVAL, table().device_open, ARROW_DEVICE_ONEAPI, 0, &none);
          expect(contains(message, "ARROWDEVICE_LEVEL_ZERO_MEMORY=shred"), message);
        }) == "");
}

TEST_CASE("devices have peer access within a context if the driver allows it") {
  for (const bool peers : {true, false}) {
    const Variable reaching("STANDIN_PEERS", peers ? "1" : "0");
    CHECK(in_child([&] {
            const auto reach = [](void* from, void* to) {
              uint32_t out = 99;
              must(table().device_get_peer_flags, from, to, &out);
              return out;
            };
            constexpr uint32_t kAll = ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
            expect(reach(gpu(0), gpu(0)) == kAll, "a device does not reach itself");
            expect(reach(gpu(0), gpu(1)) == (peers ? ARROWDEVICE_PEER_COPY : 0u), "peers");
            expect(reach(gpu(0), nullptr) == ARROWDEVICE_PEER_COPY, "to the host");
            expect(reach(nullptr, gpu(0)) == ARROWDEVICE_PEER_COPY, "from the host");
            auto* const context = level_zero::create_context();
            void* const wrapped = wrap(0, context, level_zero::device(0));
            expect(reach(gpu(0), wrapped) == 0 && reach(wrapped, gpu(0)) == 0, "another context");
            must(table().device_unwrap, wrapped);
            ze().zeContextDestroy(context);
          }) == "");
  }
}

}  // namespace
