// SPDX-License-Identifier: Apache-2.0
// Tests that the stand-in ends the process on each error. Each error has its own process.
#include <functional>

#include "drivers/level_zero/application.h"
#include "drivers/level_zero/handles.h"
#include "support/catch.h"
#include "support/variable.h"

namespace {

using arrowdevice::testing::Variable;
using drivers::in_child;
using level_zero::allocate;
using level_zero::append_barrier;
using level_zero::append_copy;
using level_zero::create_context;
using level_zero::create_event;
using level_zero::create_list;
using level_zero::create_pool;
using level_zero::ze;

constexpr bool kInOrder = true;
constexpr bool kUnordered = false;

// Checks that the mistake ends the process with this message.
void check_violation(const std::string& part, const std::function<void()>& mistake) {
  const std::string said = in_child(mistake);
  INFO(said);
  CHECK(said.find(part) != std::string::npos);
  CHECK(said.find("ended by") != std::string::npos);
}

// A list with a copy that the program does not know to be finished.
struct DriverCallGuard {
  ze_context_handle_t context = create_context();
  ze_command_list_handle_t list = create_list(context, 0, kInOrder);
  void* to = allocate(context, 0, 64);
  void* from = allocate(context, 0, 64);
  ze_event_pool_handle_t pool = create_pool(context);
  ze_event_handle_t event = create_event(pool, 0);

  DriverCallGuard() {
    append_copy(list, to, from, 64);
    append_barrier(list, event, nullptr);
  }
};

TEST_CASE("the stand-in ends the process on destroyed handles") {
  check_violation("is not a live command list", [] {
    auto* const context = create_context();
    auto* const list = create_list(context, 0, kInOrder);
    ze().zeCommandListDestroy(list);
    ze().zeCommandListDestroy(list);
  });
  check_violation("is not a live event", [] {
    auto* const event = create_event(create_pool(create_context()), 0);
    ze().zeEventDestroy(event);
    ze().zeEventQueryStatus(event);
  });
  check_violation("is not a live context", [] {
    auto* const context = create_context();
    ze().zeContextDestroy(context);
    create_list(context, 0, kInOrder);
  });
  check_violation("is not a device", [] {
    int nothing = 0;
    ze_bool_t can = 0;
    ze().zeDeviceCanAccessPeer(reinterpret_cast<ze_device_handle_t>(&nothing), level_zero::device(0), &can);
  });
}

TEST_CASE("the stand-in ends the process on bad ranges, freed memory and foreign contexts") {
  const auto copy = [](void* to, void* from, ze_context_handle_t context) {
    auto* const list = create_list(context, 0, kInOrder);
    append_copy(list, to, from, 64);
  };
  check_violation("reach out of an allocation", [&] {
    auto* const context = create_context();
    copy(allocate(context, 0, 64), allocate(context, 0, 63), context);
  });
  check_violation("that was freed", [&] {
    auto* const context = create_context();
    void* const memory = allocate(context, 0, 64);
    ze().zeMemFree(context, memory);
    copy(memory, allocate(context, 0, 64), context);
  });
  check_violation("used in another context", [&] {
    auto* const context = create_context();
    copy(allocate(context, 0, 64), allocate(create_context(), 0, 64), context);
  });
  check_violation("freed in another context", [] {
    void* const memory = allocate(create_context(), 0, 64);
    ze().zeMemFree(create_context(), memory);
  });
  const Variable apart("STANDIN_PEERS", "0");
  check_violation("is memory of GPU 1", [&] {
    auto* const context = create_context();
    copy(allocate(context, 0, 64), allocate(context, 1, 64), context);
  });
}

TEST_CASE("the stand-in ends the process when the CPU reads device memory") {
  check_violation("ended by Segmentation fault", [] {
    const auto* const memory = static_cast<const volatile char*>(allocate(create_context(), 0, 64));
    [[maybe_unused]] const char read = *memory;
  });
}

TEST_CASE("the stand-in ends the process when an object in use is freed, at any speed") {
  check_violation("freed while work on it is pending", [] {
    const DriverCallGuard busy;
    ze().zeMemFree(busy.context, busy.to);
  });
  check_violation("a command list is destroyed while work on it is pending", [] {
    const DriverCallGuard busy;
    ze().zeCommandListDestroy(busy.list);
  });
  check_violation("an event is reset while it is pending", [] { ze().zeEventHostReset(DriverCallGuard().event); });
  check_violation("an event is destroyed while it is pending", [] { ze().zeEventDestroy(DriverCallGuard().event); });
  check_violation("an event is reset while a command list waits for it", [] {
    const DriverCallGuard busy;
    append_barrier(create_list(busy.context, 1, kInOrder), nullptr, busy.event);
    ze().zeEventHostSynchronize(busy.event, UINT64_MAX);
    ze().zeEventHostReset(busy.event);
  });
}

TEST_CASE("the stand-in ends the process on wrong use of events") {
  check_violation("signalled again that was not reset", [] {
    const DriverCallGuard busy;
    append_barrier(busy.list, busy.event, nullptr);
  });
  check_violation("waits for an event that nothing signals", [] {
    const DriverCallGuard busy;
    append_barrier(busy.list, nullptr, create_event(busy.pool, 1));
  });
  check_violation("waits for ever for an event that nothing signals",
                  [] { ze().zeEventHostSynchronize(create_event(create_pool(create_context()), 0), UINT64_MAX); });
  check_violation("waits for an event of another context", [] {
    const DriverCallGuard busy;
    append_barrier(create_list(create_context(), 0, kInOrder), nullptr, busy.event);
  });
  check_violation("a command signals an event without a scope for that", [] {
    const DriverCallGuard busy;
    append_barrier(busy.list, level_zero::create_host_event(busy.pool, 1), nullptr);
  });
  check_violation("the host signals an event of a command", [] { level_zero::signal(DriverCallGuard().event); });
  check_violation("an event is destroyed while a command list waits for it", [] {
    const DriverCallGuard busy;
    auto* const event = level_zero::create_host_event(busy.pool, 1);
    append_barrier(busy.list, nullptr, event);
    level_zero::signal(event);
    ze().zeEventDestroy(event);
  });
  check_violation("with the index 0, which is taken", [] {
    auto* const pool = create_pool(create_context());
    create_event(pool, 0);
    create_event(pool, 0);
  });
}

TEST_CASE("the stand-in ends the process on lists that the driver cannot create") {
  using namespace standin::level_zero;
  constexpr auto kExplicit = ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY;
  struct Wanted {
    uint32_t ordinal, index, flags;
    bool has_struct;
  };
  const auto create = [](const Wanted& wanted) {
    const OffloadHintDesc hint{kOffloadHintDesc, nullptr, 1};
    ze_command_queue_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    description.pNext = wanted.has_struct ? &hint : nullptr;
    description.ordinal = wanted.ordinal;
    description.index = wanted.index;
    description.flags = wanted.flags;
    description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    ze_command_list_handle_t list = nullptr;
    auto* const context = create_context();
    level_zero::must(ze().zeCommandListCreateImmediate(context, level_zero::device(0), &description, &list));
    level_zero::must(ze().zeCommandListDestroy(list));
  };
  // The groups are one engine that computes, one main engine that copies, and seven link engines.
  CHECK(in_child([&] { create({2, 6, kExplicit, false}); }) == "");
  CHECK(in_child([&] { create({0, 0, standin::level_zero::kInOrder, true}); }) == "");
  check_violation("engine 0 of group 3", [&] { create({3, 0, 0, false}); });
  check_violation("engine 7 of group 2", [&] { create({2, 7, kExplicit, false}); });
  check_violation("an engine is named, and may be another", [&] { create({2, 1, 0, false}); });
  check_violation("from an engine that only copies", [&] { create({1, 0, 0, true}); });
  check_violation("a flag that the driver does not know", [&] { create({0, 0, kOffloadHint, false}); });
  const Variable old("STANDIN_ZE_DRIVER_BUILD", "26241");
  check_violation("a struct that the driver does not know", [&] { create({0, 0, 0, true}); });
  check_violation("in order, of a driver that is too old", [&] {
    create({0, 0, standin::level_zero::kInOrder, false});
  });
}

TEST_CASE("the stand-in reorders commands without a barrier between them") {
  CHECK(in_child([] {
          auto* const context = create_context();
          for (const bool has_barrier : {true, false}) {
            auto* const list = create_list(context, 0, kUnordered);
            const char first[] = "first";
            const char later[] = "later";
            char target[sizeof first] = "";
            append_copy(list, target, first, sizeof first);
            if (has_barrier) append_barrier(list, nullptr, nullptr);
            append_copy(list, target, later, sizeof later);
            level_zero::finish(context, list);
            drivers::expect(std::string(target) == (has_barrier ? later : first), "the other copy came later");
            ze().zeCommandListDestroy(list);
          }
        }) == "");
}

TEST_CASE("the stand-in ends the process on leaks, except contexts and objects of lists") {
  check_violation("device memory are left at exit", [] { allocate(create_context(), 0, 64); });
  check_violation("events are left at exit", [] {
    auto* const context = create_context();
    auto* const pool = create_pool(context);
    auto* const list = create_list(context, 0, kInOrder);
    for (uint32_t i = 0; i < 2; ++i) append_barrier(list, create_event(pool, i), nullptr);
  });
  check_violation("that still has command lists or event pools", [] {
    auto* const context = create_context();
    create_pool(context);
    ze().zeContextDestroy(context);
  });
  check_violation("that still has events", [] {
    auto* const pool = create_pool(create_context());
    create_event(pool, 0);
    ze().zeEventPoolDestroy(pool);
  });
}

TEST_CASE("the stand-in ends the process when it is called after exit, or in a forked child") {
  check_violation("after the process has begun to exit", [] {
    static ze_context_handle_t context = nullptr;
    // The handler is registered before the driver starts, so it runs after the driver's own handler.
    std::atexit([] { ze().zeContextDestroy(context); });
    context = create_context();
  });
  check_violation("in a forked child", [] {
    create_context();
    const std::string child = in_child([] { create_context(); });
    std::fputs(child.c_str(), stderr);
    std::abort();
  });
}

}  // namespace
