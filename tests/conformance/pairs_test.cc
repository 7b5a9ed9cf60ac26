// SPDX-License-Identifier: Apache-2.0
// Tests copies between devices of one backend and of several backends: every pair, every layout, directly or
// through staging memory.
//
//   ARROWDEVICE_TEST_DEVICES  the devices, as for the conformance cases
//   ARROWDEVICE_TEST_CASES    "few": one array of each layout, if there are many pairs
#include <arrowdevice/arrowdevice.h>

#include <cstdlib>
#include <sstream>

#include "support/calls.h"
#include "support/cases.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/reader.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of this test is written with

struct Named {
  std::string name;
  arrowdevice_device* device;
};

std::vector<Named> devices() {
  const char* const names = std::getenv("ARROWDEVICE_TEST_DEVICES");
  std::stringstream text(names == nullptr ? "" : names);
  std::vector<Named> all;
  for (std::string name; std::getline(text, name, ',');) {
    arrowdevice_device* device = nullptr;
    arrowdevice_error error{};
    const int code = arrowdevice_device_find_by_name(name.c_str(), &device, &error);
    INFO(name << ": " << error.message);
    REQUIRE(code == 0);
    all.push_back({name, device});
  }
  REQUIRE(all.size() >= 2);
  return all;
}

std::vector<const std::vector<HostCase>*> cases() {
  if (&asked_cases() == &few_cases()) return {&few_cases()};
  return {&all_cases(), &large_cases()};
}

// Copies an array from the host through these devices and back. Returns the first failure, or "".
std::string trip(const HostCase& one, const std::vector<arrowdevice_device*>& way, uint32_t flags) {
  const auto schema = one.schema();
  Owned<ArrowArray> array = one.array(Ledger());
  Owned<ArrowArray> twin = one.array(Ledger());
  auto options = sized<arrowdevice_copy_options>();
  options.flags = flags;
  arrowdevice_error error{};
  Owned<ArrowDeviceArray> here;
  if (arrowdevice_array_from_host(array.get(), here.out(), &error) != 0) return error.message;
  for (arrowdevice_device* const device : way) {
    Owned<ArrowDeviceArray> next;
    // The moved array keeps the memory that a pending copy still reads.
    if (arrowdevice_array_to_device(here.get(), schema.get(), device, &options, next.out(), &error) != 0) {
      return error.message;
    }
    here = std::move(next);
  }
  Owned<ArrowArray> back;
  if (arrowdevice_array_to_host(here.get(), schema.get(), nullptr, back.out(), &error) != 0) return error.message;
  if (back->length != twin->length) return "rows were lost";
  return difference(*schema, *twin, 0, *schema, *back, 0, twin->length);
}

void every_pair(uint32_t flags) {
  const auto all = devices();
  for (const auto& from : all) {
    for (const auto& to : all) {
      for (const auto* list : cases()) {
        for (const HostCase& one : *list) {
          const std::string problem = trip(one, {from.device, to.device}, flags);
          INFO(one.name << " from " << from.name << " to " << to.name << ": " << problem);
          CHECK(problem.empty());
        }
      }
    }
  }
  trim_all();
}

TEST_CASE("copies between any two devices have the same values, for every type") {
  every_pair(ARROWDEVICE_COPY_ALWAYS);
}

TEST_CASE("pending copies between any two devices have the same values, for every type") {
  every_pair(ARROWDEVICE_COPY_ALWAYS | ARROWDEVICE_COPY_ASYNC);
}

TEST_CASE("whole copies between any two devices have the same values, for every type") {
  every_pair(ARROWDEVICE_COPY_ALWAYS | ARROWDEVICE_COPY_NO_TRIM);
}

}  // namespace
