// SPDX-License-Identifier: Apache-2.0
// Tests which engines copy, and which kinds of command lists the backend uses. Each case has its own process.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "drivers/level_zero/application.h"
#include "drivers/level_zero/table_calls.h"
#include "drivers/table.h"
#include "support/catch.h"
#include "support/variable.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::Variable;
using level_zero::calls;
using level_zero::gpu;
using level_zero::ze;

// The number of copies that each kind of engine ran.
struct EngineUse {
  int64_t compute;
  int64_t copy;
  bool operator==(const EngineUse&) const = default;
};

// Copies USM of the host to a device, within the device and to a peer, and back to the host. The backend's first call
// of `failing` fails.
EngineUse engines_of_copies(const char* failing = nullptr) {
  constexpr int64_t kSize = 64;
  EngineUse used{};
  const std::string problem = in_child([&] {
    level_zero::device(0);  // the loader has asked about the drivers by then
    if (failing != nullptr) level_zero::fail_nth(failing, 1);
    void* const device = gpu(0);
    arrowdevice_native_device native{};
    must(table().device_get_native, device, &native);
    auto* const context = static_cast<ze_context_handle_t>(native.context);
    void* const host = level_zero::allocate_host(context, kSize);
    void* const first = allocate(device, kSize);
    void* const second = allocate(device, kSize);
    void* const third = allocate(gpu(1), kSize);
    void* const queue = create_queue(device);
    copy(queue, region(device, first, nullptr, host, kSize));
    copy(queue, region(device, second, device, first, kSize));
    copy(queue, region(gpu(1), third, device, second, kSize));
    copy(queue, region(nullptr, host, device, second, kSize));
    finish(queue);
    table().queue_destroy(queue);
    for (void* const memory : {first, second}) free_memory(device, memory);
    free_memory(gpu(1), third);
    level_zero::must(ze().zeMemFree(context, host));
    throw std::runtime_error(std::to_string(calls("copy by a compute engine")) + " " +
                             std::to_string(calls("copy by a copy engine")) + " " +
                             std::to_string(calls("zeCommandListCreateImmediate")));
  });
  int64_t lists = 0;
  std::istringstream said(problem);
  said >> used.compute >> used.copy >> lists;
  INFO(problem);
  CHECK(lists == 1);
  CHECK(used.compute + used.copy == 4);
  return used;
}

constexpr EngineUse kOffloaded{.compute = 2, .copy = 2};
constexpr EngineUse kComputeOnly{.compute = 4, .copy = 0};

TEST_CASE("discrete GPUs use copy engines for copies with the host only") {
  CHECK(engines_of_copies() == kOffloaded);
  const Variable newer("STANDIN_ZE_API_VERSION", "1.14");  // which has a flag for it
  CHECK(engines_of_copies() == kOffloaded);
}

TEST_CASE("integrated GPUs copy by compute engines only") {
  const Variable integrated("STANDIN_ZE_INTEGRATED", "1");
  CHECK(engines_of_copies() == kComputeOnly);
}

TEST_CASE("GPUs of the generation Xe-HPG copy by compute engines only") {
  for (const char* const id : {"0x56a0", "0x5690", "0x56c1"}) {
    const Variable arc("STANDIN_ZE_DEVICE_ID", id);
    CHECK(engines_of_copies() == kComputeOnly);
  }
  const Variable battlemage("STANDIN_ZE_DEVICE_ID", "0xe20b");
  CHECK(engines_of_copies() == kOffloaded);
}

TEST_CASE("a device without copy engines copies with compute engines") {
  const Variable no_main_engine("STANDIN_ZE_COPY_ENGINES", "0"), no_link_engine("STANDIN_ZE_LINK_ENGINES", "0");
  CHECK(engines_of_copies() == kComputeOnly);
}

TEST_CASE("a device without compute engines copies with copy engines") {
  const Variable no_compute_engine("STANDIN_ZE_COMPUTE_ENGINES", "0");
  CHECK(engines_of_copies() == EngineUse{.compute = 0, .copy = 4});
}

// Build 30049 is of June 2024. Build 32149 is the first one whose in-order lists Intel's own runtime uses.
TEST_CASE("drivers before build 32149 copy in unordered lists by compute engines") {
  for (const char* const build : {"26241", "27912", "30049", "32148"}) {
    const Variable older("STANDIN_ZE_DRIVER_BUILD", build);
    CHECK(engines_of_copies() == kComputeOnly);
  }
  const Variable trusted("STANDIN_ZE_DRIVER_BUILD", "32149");
  CHECK(engines_of_copies() == kOffloaded);
}

TEST_CASE("a driver that does not list its extensions has the abilities of Level Zero 1.0") {
  for (const char* const call : {"zeDriverGetExtensionProperties", "zeDriverGetProperties"}) {
    const Variable version("STANDIN_ZE_API_VERSION", "1.6");
    CHECK(engines_of_copies(call) == kComputeOnly);
  }
}

TEST_CASE("a device without any engine that copies cannot be opened") {
  const Variable no_copy_engine("STANDIN_ZE_COPY_ENGINES", "0"), no_link_engine("STANDIN_ZE_LINK_ENGINES", "0"),
      no_compute_engine("STANDIN_ZE_COMPUTE_ENGINES", "0");
  CHECK(in_child([] {
          void* none = nullptr;
          const std::string message = must_fail_once(ENODEV, table().device_open, ARROW_DEVICE_ONEAPI, 0, &none);
          expect(contains(message, "the device has no engine that copies"), message);
        }) == "");
}

// Creates a list like an application, through the loader and its layers. The driver itself supports such
// lists.
bool can_create_in_order_list() {
  auto* const context = level_zero::create_context();
  ze_command_queue_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  description.flags = ZE_BIT(1);
  description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_list_handle_t list = nullptr;
  const ze_result_t result = ze().zeCommandListCreateImmediate(context, level_zero::device(0), &description, &list);
  if (result != ZE_RESULT_ERROR_INVALID_ENUMERATION) {
    level_zero::must(result);
    level_zero::must(ze().zeCommandListDestroy(list));
  }
  level_zero::must(ze().zeContextDestroy(context));
  return result == ZE_RESULT_SUCCESS;
}

// The validation layer supports in-order lists from 1.9.
TEST_CASE("barriers keep the order if a layer refuses in-order lists") {
  for (const bool has_layer : {true, false}) {
    const Variable layer("ZE_ENABLE_VALIDATION_LAYER", has_layer ? "1" : "0");
    const Variable parameters("ZE_ENABLE_PARAMETER_VALIDATION", has_layer ? "1" : "0");
    CHECK(in_child([&] {
            const bool is_in_order = can_create_in_order_list();
            expect(is_in_order || has_layer, "the loader refuses in-order lists");
            const int64_t lists = calls("zeCommandListCreateImmediate");
            constexpr int64_t kSize = 64;
            const std::vector<char> sent(kSize, 's');
            std::vector<char> received(kSize);
            void* const device = gpu(0);
            void* const queue = create_queue(device);
            void* const other = create_queue(device);
            void* const memory = allocate(device, kSize);
            copy(queue, region(device, memory, nullptr, sent.data(), kSize));
            copy(queue, region(nullptr, received.data(), device, memory, kSize));
            expect(calls("zeCommandListAppendBarrier") == (is_in_order ? 0 : 1), "another number of barriers");
            finish(queue);
            expect(received == sent, "a copy overtook another");
            expect(calls("zeCommandListCreateImmediate") == lists + 2, "another number of lists");
            free_memory(device, memory);
            table().queue_destroy(queue);
            table().queue_destroy(other);
          }) == "");
  }
}

// Newer validation layers know in-order lists, but not the struct of Intel's drivers.
TEST_CASE("lists stay in order if a layer refuses only the hint to offload copies") {
  CHECK(in_child([] {
          void* const device = gpu(0);
          level_zero::fail_nth("zeCommandListCreateImmediate", 1, ZE_RESULT_ERROR_INVALID_ARGUMENT);
          for (const int64_t lists : {2, 3}) {
            constexpr int64_t kSize = 8 << 20;  // which the CPU does not copy
            const std::vector<char> sent(kSize, 's');
            std::vector<char> received(kSize);
            void* const queue = create_queue(device);
            expect(calls("zeCommandListCreateImmediate") == lists, "another number of lists");
            void* const memory = allocate(device, kSize);
            copy(queue, region(device, memory, nullptr, sent.data(), kSize));
            copy(queue, region(nullptr, received.data(), device, memory, kSize));
            expect(calls("zeCommandListAppendBarrier") == lists - 2, "a barrier between the copies");
            finish(queue);
            expect(received == sent, "the bytes changed");
            free_memory(device, memory);
            table().queue_destroy(queue);
          }
          expect(calls("copy by a copy engine") == 0 && calls("copy by a compute engine") == 4, "another engine");
        }) == "");
}

}  // namespace
