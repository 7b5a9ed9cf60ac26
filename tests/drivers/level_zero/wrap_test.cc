// SPDX-License-Identifier: Apache-2.0
// Tests the Level Zero backend with command lists, contexts and memory of an application. Each case has its
// own process.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>

#include "drivers/level_zero/application.h"
#include "drivers/level_zero/table_calls.h"
#include "drivers/table.h"
#include "support/catch.h"
#include "support/variable.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::Variable;
using drivers::wrap;
using level_zero::gpu;
using level_zero::locate;
using level_zero::wrap;
using level_zero::ze;

TEST_CASE("library and application share the order of any wrapped command list") {
  for (const bool is_in_order : {true, false}) {
    CHECK(in_child([&] {
            constexpr int64_t kSize = 64;
            const std::vector<char> earlier(kSize, 'e'), ours(kSize, 'o');
            std::vector<char> seen(kSize), later(kSize);
            void* const device = gpu(0);
            arrowdevice_native_device native{};
            must(table().device_get_native, device, &native);
            auto* const context = static_cast<ze_context_handle_t>(native.context);
            auto* const list = level_zero::create_list(context, 0, is_in_order);
            void* const memory = allocate(device, kSize);
            void* const queue = wrap(device, list);
            arrowdevice_native_queue again{};
            must(table().queue_get_native, queue, &again);
            expect(again.queue == list, "another list came back");

            level_zero::append_copy(list, memory, earlier.data(), kSize);
            copy(queue, region(nullptr, seen.data(), device, memory, kSize));
            copy(queue, region(device, memory, nullptr, ours.data(), kSize));
            level_zero::append_copy(list, later.data(), memory, kSize);
            finish(queue);
            expect(seen == earlier, "the library overtook the application");
            expect(later == ours, "the application overtook the library");
            table().queue_destroy(queue);
            free_memory(device, memory);
            level_zero::append_copy(list, later.data(), earlier.data(), kSize);  // the application still owns the list
            level_zero::finish(context, list);
            ze().zeCommandListDestroy(list);
          }) == "");
  }
}

TEST_CASE("library and application share the order of a list from queue_get_native") {
  const Variable older("STANDIN_ZE_API_VERSION", "1.4");
  CHECK(in_child([] {
          constexpr int64_t kSize = 64;
          const std::vector<char> first(kSize, 'f');
          std::vector<char> seen(kSize);
          void* const device = gpu(0);
          void* const memory = allocate(device, kSize);
          void* const queue = create_queue(device);
          arrowdevice_native_queue native{};
          must(table().queue_get_native, queue, &native);
          level_zero::append_copy(static_cast<ze_command_list_handle_t>(native.queue), memory, first.data(), kSize);
          copy(queue, region(nullptr, seen.data(), device, memory, kSize));
          finish(queue);
          expect(seen == first, "the library overtook the application");
          free_memory(device, memory);
          table().queue_destroy(queue);
        }) == "");
}

TEST_CASE("a queue outlives its destruction while the application has work on its list") {
  const Variable slow("STANDIN_LATENCY_US", level_zero::kSlow);
  for (const bool has_own_work : {false, true}) {
    CHECK(in_child([&] {
            constexpr int64_t kSize = 64;
            const std::vector<char> sent(kSize, 's');
            void* const device = gpu(0);
            void* const memory = allocate(device, kSize);
            void* const queue = create_queue(device);
            arrowdevice_native_queue native{};
            must(table().queue_get_native, queue, &native);
            if (has_own_work) finish(queue);  // the last event of the library has fired
            level_zero::append_copy(static_cast<ze_command_list_handle_t>(native.queue), memory, sent.data(), kSize);
            table().queue_destroy(queue);
            expect(level_zero::calls("zeCommandListDestroy") == 0, "the list was destroyed while it had work");
            void* const other = create_queue(device);
            for (int i = 0; level_zero::calls("zeCommandListDestroy") == 0; ++i) {
              expect(i < 1'000, "the list was not destroyed when its work was over");
              finish(other);
            }
            free_memory(device, memory);
            table().queue_destroy(other);
          }) == "");
  }
}

TEST_CASE("Level Zero has no default queue") {
  CHECK(in_child([] {
          const arrowdevice_native_queue native{};
          void* queue = nullptr;
          must_fail_once(EINVAL, table().queue_wrap, gpu(0), &native, &queue);
        }) == "");
}

TEST_CASE("the last unwrap leaves nothing in an application's context") {
  CHECK(in_child([] {
          auto* const context = level_zero::create_context();
          auto* const native = level_zero::device(1);
          for (int round = 0; round < 2; ++round) {  // the context may be wrapped again
            void* const wrapped = wrap(5, context, native);
            expect(wrap(5, context, native) == wrapped, "the same handles gave another device");
            arrowdevice_native_device shown{};
            must(table().device_get_native, wrapped, &shown);
            expect(shown.context == context && shown.device == native && shown.platform == level_zero::driver(),
                   "other handles came back");
            {
              const Pending work(wrapped);
              expect(locate(5, work.memory()) == wrapped, "its memory was found elsewhere");
            }
            must(table().device_unwrap, wrapped);
            must(table().device_unwrap, wrapped);
            must_fail_once(EINVAL, table().device_unwrap, wrapped);
          }
          ze().zeContextDestroy(context);
          arrowdevice_native_device nothing{};
          void* wrapped = nullptr;
          must_fail_once(EINVAL, table().device_wrap, ARROW_DEVICE_ONEAPI, 0, &nothing, &wrapped);
        }) == "");
}

TEST_CASE("an unwrap waits for the work of every queue that was destroyed before") {
  const Variable slow("STANDIN_LATENCY_US", level_zero::kSlow);
  CHECK(in_child([] {
          constexpr int64_t kSize = 64;
          constexpr int kQueues = 3;
          auto* const context = level_zero::create_context();
          void* const wrapped = wrap(0, context, level_zero::device(0));
          auto* const memory = static_cast<char*>(level_zero::allocate(context, 0, (kQueues + 1) * kSize));
          const char* const source = memory + kQueues * kSize;
          for (int i = 0; i < kQueues; ++i) {
            void* const queue = create_queue(wrapped);
            copy(queue, region(wrapped, memory + i * kSize, wrapped, source, kSize));
            table().queue_destroy(queue);
          }
          expect(level_zero::calls("zeCommandListDestroy") == 0, "a list was destroyed while it had work");
          must(table().device_unwrap, wrapped);
          expect(level_zero::calls("zeCommandListDestroy") == kQueues, "a list is still there");
          ze().zeMemFree(context, memory);
          ze().zeContextDestroy(context);
        }) == "");
}

TEST_CASE("wrapping a context without a device handle selects the device by id") {
  CHECK(in_child([] {
          auto* const context = level_zero::create_context();
          void* const wrapped = wrap(1, context, nullptr);
          arrowdevice_native_device shown{};
          must(table().device_get_native, wrapped, &shown);
          expect(shown.device == level_zero::device(1), "another device");
          must(table().device_unwrap, wrapped);
          ze().zeContextDestroy(context);
        }) == "");
}

TEST_CASE("memory of an unwrapped context and ranges outside of allocations are refused") {
  CHECK(in_child([] {
          auto* const context = level_zero::create_context();
          void* const theirs = level_zero::allocate(context, 0, 64);
          void* const device = gpu(0);
          void* const queue = create_queue(device);
          char received[128];
          const auto foreign = region(nullptr, received, device, theirs, 64);
          const std::string unknown = must_fail_once(EINVAL, table().queue_copy, queue, &foreign, 1);
          expect(contains(unknown, "not known to the context") && contains(unknown, "wrap"), unknown);
          expect(locate(0, theirs) == device, "memory that nobody knows is not taken as the id says");

          void* const wrapped = wrap(0, context, level_zero::device(0));
          expect(locate(0, theirs) == wrapped, "memory of a wrapped context is not found there");
          void* const their_queue = create_queue(wrapped);
          const auto good = region(nullptr, received, wrapped, theirs, 64);
          copy(their_queue, good);
          finish(their_queue);
          const auto wide = region(nullptr, received, wrapped, theirs, 65);
          const std::string too_wide = must_fail_once(EINVAL, table().queue_copy, their_queue, &wide, 1);
          expect(contains(too_wide, "reach out of an allocation of 64 bytes"), too_wide);
          const std::string elsewhere = must_fail_once(EINVAL, table().queue_copy, queue, &good, 1);
          expect(contains(elsewhere, "another context than the queue"), elsewhere);

          void* none = nullptr;
          must_fail_once(ENODEV, table().device_locate, ARROW_DEVICE_ONEAPI, 99, theirs, nullptr, &none);
          table().queue_destroy(their_queue);
          table().queue_destroy(queue);
          ze().zeMemFree(context, theirs);
          must(table().device_unwrap, wrapped);
          ze().zeContextDestroy(context);
        }) == "");
}

TEST_CASE("a wrapped context is found first even if other contexts know its memory") {
  const Variable all("STANDIN_ZE_OTHER_CONTEXTS", "1");
  CHECK(in_child([] {
          auto* const context = level_zero::create_context();
          void* const theirs = level_zero::allocate(context, 0, 64);
          expect(locate(0, theirs) == gpu(0), "it is not found");
          void* const wrapped = wrap(0, context, level_zero::device(0));
          expect(locate(0, theirs) == wrapped, "another context was found first");
          ze().zeMemFree(context, theirs);
          must(table().device_unwrap, wrapped);
          ze().zeContextDestroy(context);
        }) == "");
}

}  // namespace
