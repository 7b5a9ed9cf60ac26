// SPDX-License-Identifier: Apache-2.0
// Tests arrays that a foreign producer published with a sycl::event, through our own libsycl.so. Each case
// has its own process, because a loaded runtime stays loaded.
#include <arrowdevice/arrowdevice.h>
#include <dlfcn.h>

#include <cerrno>

#include "drivers/level_zero/application.h"
#include "drivers/table.h"
#include "level_zero/sycl_events.h"
#include "support/catch.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with

// A runtime that is loaded locally, like a producer's extension module loads it.
class Runtime {
 public:
  explicit Runtime(const char* variable) : library_(::dlopen(std::getenv(variable), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(::dlerror());
  }

  template <typename Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }

  void* event(void (*work)(void*) = nullptr, void* argument = nullptr, int32_t failure = 0) const {
    return find<decltype(sycl_event_create)>("sycl_event_create")(work, argument, failure);
  }
  void complete(void* event) const { find<decltype(sycl_event_complete)>("sycl_event_complete")(event); }
  int64_t waits(void* event) const { return find<decltype(sycl_event_waits)>("sycl_event_waits")(event); }
  void destroy(void* event) const { find<decltype(sycl_event_destroy)>("sycl_event_destroy")(event); }

 private:
  void* const library_;
};

constexpr const char* kToday = "TEST_SYCL_RUNTIME";
constexpr const char* kBefore2023 = "TEST_SYCL_RUNTIME_BEFORE_2023";
constexpr const char* kWithoutStatus = "TEST_SYCL_RUNTIME_WITHOUT_STATUS";

void* gpu() { return drivers::open(ARROW_DEVICE_ONEAPI, 0); }

void* import(void* sycl_event) { return output_of(table().event_import, gpu(), sycl_event); }

bool is_ready(void* event) {
  int ready = output_of(table().event_query, event);
  return ready != 0;
}

TEST_CASE("a sycl::event is refused with the reason if no SYCL runtime is loaded") {
  CHECK(in_child([] {
          int something = 0;
          void* event = nullptr;
          const std::string message = must_fail_once(ENOTSUP, table().event_import, gpu(), &something, &event);
          expect(contains(message, "no libsycl.so is loaded"), message);
        }) == "");
}

TEST_CASE("a sycl::event is refused if two SYCL runtimes are loaded") {
  CHECK(in_child([] {
          const Runtime first(kToday);
          const Runtime second(kBefore2023);
          void* const theirs = first.event();
          void* event = nullptr;
          const std::string message = must_fail_once(ENOTSUP, table().event_import, gpu(), theirs, &event);
          expect(contains(message, std::getenv(kToday)) && contains(message, std::getenv(kBefore2023)), message);
          first.destroy(theirs);
        }) == "");
}

TEST_CASE("the producer's SYCL runtime waits for a sycl::event, before 2023 and after") {
  for (const char* const variable : {kToday, kBefore2023}) {
    CHECK(in_child([&] {
            const Runtime runtime(variable);
            void* const theirs = runtime.event();
            void* const event = import(theirs);
            expect(!is_ready(event), "it is over before its work is");
            must_fail_once(ETIMEDOUT, table().event_wait, event, ARROWDEVICE_POLL);
            must_fail_once(ETIMEDOUT, table().event_wait, event, 1'000'000);
            expect(runtime.waits(theirs) == 0, "a wait with a time-out waited for ever");
            must(table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
            expect(runtime.waits(theirs) == 1, "nobody waited");
            expect(is_ready(event), "it is not over after its work");
            table().event_destroy(event);

            void* const over = runtime.event();
            runtime.complete(over);
            void* const another = import(over);
            must(table().event_wait, another, ARROWDEVICE_POLL);
            table().event_destroy(another);
            runtime.destroy(over);
            runtime.destroy(theirs);
          }) == "");
  }
}

TEST_CASE("a runtime without event status supports only waits without a time-out") {
  CHECK(in_child([] {
          const Runtime runtime(kWithoutStatus);
          void* const theirs = runtime.event();
          void* const event = import(theirs);
          int ready = 0;
          must_fail_once(ENOTSUP, table().event_query, event, &ready);
          const std::string message = must_fail_once(ENOTSUP, table().event_wait, event, 1'000'000'000);
          expect(contains(message, "without a time-out only"), message);
          must(table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
          expect(is_ready(event), "what was waited for is not over");
          must(table().event_wait, event, ARROWDEVICE_POLL);
          table().event_destroy(event);
          runtime.destroy(theirs);
        }) == "");
}

TEST_CASE("an exception of a SYCL runtime becomes EIO each time") {
  for (const int32_t failure : {1, 2}) {
    CHECK(in_child([&] {
            const Runtime runtime(kToday);
            void* const theirs = runtime.event(nullptr, nullptr, failure);
            void* const event = import(theirs);
            for (int i = 0; i < 2; ++i) {
              const std::string message = must_fail_once(EIO, table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
              expect(contains(message, "sycl::event::wait: "), message);
              expect(contains(message, failure == 1 ? "the kernel failed" : "of unknown type"), message);
            }
            runtime.complete(theirs);  // finished with a failure, which the query reports too
            int ready = 0;
            must_fail_once(EIO, table().event_query, event, &ready);
            void* const queue = drivers::create_queue(gpu());
            must_fail_once(EIO, table().queue_wait_event, queue, event);
            table().queue_destroy(queue);
            table().event_destroy(event);
            runtime.destroy(theirs);
          }) == "");
  }
}

// An array with a buffer that its producer writes late.
struct Late {
  void* memory;
  std::vector<int32_t> values;
  ze_context_handle_t context;
};

void write(void* argument) {
  const auto& late = *static_cast<Late*>(argument);
  auto* const list = level_zero::create_list(late.context, 0, true);
  level_zero::append_copy(list, late.memory, late.values.data(), late.values.size() * sizeof(int32_t));
  level_zero::finish(late.context, list);
  level_zero::ze().zeCommandListDestroy(list);
}

TEST_CASE("mistake 1: a copy of fixed-width values waits for the producer's sycl::event") {
  CHECK(in_child([] {
          const Runtime runtime(kToday);
          auto* device = output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_ONEAPI, 0);
          auto native = output_of(arrowdevice_device_get_native, device);
          auto* const context = static_cast<ze_context_handle_t>(native.context);
          Late late{.memory = level_zero::allocate(context, 0, 16), .values = {1, 2, 3, 4}, .context = context};
          void* const event = runtime.event(write, &late);

          ArrowSchema schema{};
          schema.format = "i";
          schema.release = [](ArrowSchema* one) { one->release = nullptr; };
          const void* buffers[] = {nullptr, late.memory};
          ArrowDeviceArray array{};
          array.array.length = 4;
          array.array.n_buffers = 2;
          array.array.buffers = buffers;
          array.array.release = [](ArrowArray* one) { one->release = nullptr; };
          array.device_type = ARROW_DEVICE_ONEAPI;
          array.sync_event = event;

          arrowdevice_error error{};
          int ready = 1;
          expect(arrowdevice_array_is_ready(&array, nullptr, &ready, nullptr) == 0 && ready == 0,
                 "it is ready before its event");
          ArrowDeviceArray copied{};
          auto* peer = output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_ONEAPI, 1);
          auto options = sized<arrowdevice_copy_options>();
          options.flags = ARROWDEVICE_COPY_ASYNC;
          expect(arrowdevice_array_copy(&array, &schema, peer, &options, &copied, &error) == 0, error.message);
          expect(runtime.waits(event) == 1, "nobody waited for the producer");
          expect(copied.sync_event == nullptr, "an array left with an event that is no sycl::event");
          ArrowArray back{};
          expect(arrowdevice_array_to_host(&copied, &schema, nullptr, &back, &error) == 0, error.message);
          expect(std::memcmp(back.buffers[1], late.values.data(), 16) == 0, "it was copied before it was written");
          back.release(&back);
          array.array.release(&array.array);
          runtime.destroy(event);
          level_zero::ze().zeMemFree(context, late.memory);
          arrowdevice_pool* pool = nullptr;
          expect(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr) == 0 &&
                     arrowdevice_device_get_pool(peer, &pool, nullptr) == 0,
                 "no pool");
          arrowdevice_pool_trim(pool, nullptr);
        }) == "");
}

}  // namespace
