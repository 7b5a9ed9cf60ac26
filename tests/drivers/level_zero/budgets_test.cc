// SPDX-License-Identifier: Apache-2.0
// The objects of the driver that copies cost when the library has copied before. ../budgets.cc has the calls.
#include <arrowdevice/arrowdevice.h>

#include <map>

#include "drivers/devices.h"
#include "drivers/level_zero/application.h"
#include "drivers/trips.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/reader.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with

// Creates or destroys an object, or memory.
constexpr const char* kObjectCalls[] = {"zeEventPoolCreate",   "zeEventPoolDestroy", "zeEventCreate",
                                        "zeEventDestroy",      "zeMemAllocDevice",   "zeMemAllocHost",
                                        "zeMemAllocShared",    "zeMemFree",          "zeCommandListCreateImmediate",
                                        "zeCommandListDestroy"};

// Copies a table to a GPU, within it, to a peer, and back to the host.
void copy_around(const HostCase& table) {
  const auto schema = table.schema();
  auto* const peer = output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_ONEAPI, int64_t{1});
  Owned<ArrowArray> array = table.array(Ledger());
  Owned<ArrowDeviceArray> last = output_of(arrowdevice_array_from_host, array.get());
  for (arrowdevice_device* const to : {drivers::gpu(), drivers::gpu(), peer, drivers::cpu()}) {
    last = output_of(arrowdevice_array_copy, last.get(), schema.get(), to, nullptr);
  }
  const auto twin = table.array(Ledger());
  const auto changed = difference(*schema, *twin, 0, *schema, last->array, 0, twin->length);
  expect(changed.empty(), "the values changed: " + changed);
}

TEST_CASE("copies create no objects and allocate no memory of the driver after a while") {
  const HostCase small{"small", struct_of({field("l"), field("u")}).not_null(), {.rows = 1'000}};
  const HostCase large{"large", struct_of({field("w:800"), field("l")}).not_null(), {.rows = 12'000}};
  for (const HostCase* const table : {&small, &large}) {
    INFO(table->name);
    CHECK(in_limited_child([&] {
            ::setenv("ARROWDEVICE_COPY_THREADS", "3", 1);
            for (int i = 0; i < 3; ++i) copy_around(*table);
            std::map<std::string, int64_t> before;
            for (const char* const call : kObjectCalls) before[call] = level_zero::calls(call);
            const int64_t copies = level_zero::calls("zeCommandListAppendMemoryCopy");
            for (int i = 0; i < 20; ++i) copy_around(*table);
            expect(level_zero::calls("zeCommandListAppendMemoryCopy") > copies, "no copies were counted");
            for (const auto& [call, n] : before) {
              const int64_t made = level_zero::calls(call) - n;
              expect(made == 0, std::to_string(made) + " times " + call);
            }
            drivers::trim_all();
            expect(level_zero::live_allocations() == 0, "memory of the driver was lost");
          }) == "");
  }
}

}  // namespace
