// SPDX-License-Identifier: Apache-2.0
// Copies between every two devices that there are, of whatever backends.
#include <arrowdevice/arrowdevice.h>

#include <cstdlib>
#include <vector>

#include "support/cases.h"
#include "support/catch.h"
#include "support/owned.h"
#include "support/reader.h"

namespace {

using arrowdevice::testing::HostCase;
using arrowdevice::testing::Ledger;
using arrowdevice::testing::Owned;

std::vector<arrowdevice_device*> all_devices() {
  int64_t count = 0;
  REQUIRE(arrowdevice_device_list(nullptr, 0, &count, nullptr) == 0);
  std::vector<arrowdevice_device*> devices(static_cast<size_t>(count));
  REQUIRE(arrowdevice_device_list(devices.data(), count, &count, nullptr) == 0);
  return devices;
}

std::string name_of(const arrowdevice_device* device) {
  arrowdevice_device_info info{};
  info.struct_size = sizeof info;
  REQUIRE(arrowdevice_device_describe(device, &info, nullptr) == 0);
  return std::string(arrowdevice_device_type_name(info.device_type)) + ":" + std::to_string(info.device_id);
}

Owned<ArrowDeviceArray> copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to,
                             uint32_t flags) {
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  Owned<ArrowDeviceArray> out;
  arrowdevice_error error{};
  const int code = arrowdevice_array_copy(&array, &schema, to, &options, out.out(), &error);
  INFO(error.message);
  REQUIRE(code == 0);
  return out;
}

void there_and_there_and_back(const HostCase& one, arrowdevice_device* first, arrowdevice_device* second,
                              arrowdevice_device* cpu) {
  INFO(one.name);
  const auto schema = one.schema();
  Owned<ArrowArray> array = one.array(Ledger());
  const auto twin = one.array(Ledger());
  Owned<ArrowDeviceArray> host;
  REQUIRE(arrowdevice_array_from_host(array.get(), host.out(), nullptr) == 0);
  const auto here = copy(*host, *schema, first, ARROWDEVICE_COPY_ASYNC);
  const auto there = copy(*here, *schema, second, ARROWDEVICE_COPY_ASYNC);
  const auto back = copy(*there, *schema, cpu, 0);
  CHECK(arrowdevice::testing::difference(*schema, *twin, 0, *schema, back->array, 0, twin->length) == "");
}

TEST_CASE("arrays are copied between every two devices, of one backend or of two") {
  const auto devices = all_devices();
  arrowdevice_device* cpu = nullptr;
  REQUIRE(arrowdevice_device_get(ARROW_DEVICE_CPU, -1, &cpu, nullptr) == 0);
  int pairs = 0;
  for (arrowdevice_device* const first : devices) {
    for (arrowdevice_device* const second : devices) {
      INFO(name_of(first) << " to " << name_of(second));
      for (const HostCase& one : arrowdevice::testing::few_cases()) there_and_there_and_back(one, first, second, cpu);
      ++pairs;
    }
  }
  // The CPU, two simulated devices, two GPUs of each vendor with their kinds of memory.
  const char* const expected = std::getenv("STANDIN_ALL_DEVICES");
  REQUIRE(expected != nullptr);
  CHECK(pairs == std::atoi(expected) * std::atoi(expected));
  REQUIRE(arrowdevice_quiesce(-1, nullptr) == 0);
  for (arrowdevice_device* const device : devices) {
    arrowdevice_pool* pool = nullptr;
    REQUIRE(arrowdevice_device_pool(device, &pool, nullptr) == 0);
    CHECK(arrowdevice_pool_trim(pool, nullptr) == 0);
  }
}

}  // namespace
