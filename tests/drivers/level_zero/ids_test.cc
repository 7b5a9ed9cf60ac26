// SPDX-License-Identifier: Apache-2.0
// Tests the order of ids below a loader whose zeDriverGet and zeInitDrivers list the drivers in opposite orders.
#include <arrowdevice/arrowdevice.h>

#include <algorithm>
#include <string>
#include <vector>

#include "drivers/level_zero/application.h"
#include "drivers/level_zero/table_calls.h"
#include "drivers/table.h"
#include "support/catch.h"
#include "support/variable.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::Variable;

using Drivers = std::vector<ze_driver_handle_t>;

// Fails unless the ids count the devices of these drivers in this order.
void expect_ids(const Drivers& drivers) {
  int64_t id = 0;
  for (auto* const driver : drivers) {
    for (auto* const device : level_zero::devices_of(driver)) {
      arrowdevice_native_device native{};
      must(table().device_get_native, level_zero::gpu(id), &native);
      expect(native.device == device && native.platform == driver, "another device has the id " + std::to_string(id));
      ++id;
    }
  }
  const int64_t count = output_of(table().device_count, ARROW_DEVICE_ONEAPI);
  expect(count == id, std::to_string(count) + " devices instead of " + std::to_string(id));
}

Drivers reversed(Drivers drivers) {
  std::ranges::reverse(drivers);
  return drivers;
}

// In a new process, compares the ids with an order that is computed from zeDriverGet's.
template <typename Order>
std::string ids_follow(const Order& order) {
  return in_child([&] {
    const Drivers get = level_zero::drivers_of_driver_get();
    expect(get.size() == 2, "there are not two drivers");
    expect_ids(order(get));
  });
}

constexpr auto kAsDriverGet = [](const Drivers& get) { return get; };
constexpr auto kAsInitDrivers = [](const Drivers& get) { return reversed(get); };

TEST_CASE("ids follow zeInitDrivers, as in sycl-ls") {
  CHECK(ids_follow([](const Drivers& get) {
          const Drivers init = level_zero::drivers_of_init_drivers();
          expect(init == reversed(get), "the two orders are not opposite");
          return init;
        }) == "");
}

TEST_CASE("ids follow zeDriverGet if the loader is older than 1.19.2") {
  for (const char* const version : {"1.19.1", "1.18.9", "0.91.30"}) {
    const Variable older("LOADER_VERSION", version);
    CHECK(ids_follow(kAsDriverGet) == "");
  }
  for (const char* const version : {"1.19.2", "1.21.0", "2.0.0"}) {
    const Variable newer("LOADER_VERSION", version);
    CHECK(ids_follow(kAsInitDrivers) == "");
  }
}

TEST_CASE("ids follow zeDriverGet if zeInitDrivers fails or lists no driver") {
  for (const char* const variable : {"LOADER_FAILS", "LOADER_LISTS"}) {
    const Variable set(variable, "0");
    CHECK(ids_follow(kAsDriverGet) == "");
  }
}

TEST_CASE("drivers that zeInitDrivers does not list come after those that it lists") {
  const Variable one("LOADER_LISTS", "1");
  CHECK(ids_follow(kAsInitDrivers) == "");
}

}  // namespace
