// SPDX-License-Identifier: Apache-2.0
// Calls the library, linked statically, with simulated devices that the test controls.
//
//   begin();                                          // four devices, none held or lost; nothing cached or counted
//   Sample sample(list_of(field("u")));
//   Held engine(0);                                   // pending work stays pending
//   Owned<ArrowDeviceArray> there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
//   ...
//   engine.resume();
//   REQUIRE(difference(sample, *there) == "");
#pragma once

#include <arrowdevice/arrowdevice.h>
#include <arrowdevice/backend.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/control.h"
#include "support/catch.h"
#include "support/fixture.h"
#include "support/held.h"

namespace library_test {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
namespace control = arrowdevice::sim::control;
using arrowdevice::sim::Peers;

// Names these structs, because functions of the same names hide them.
using Counters = struct arrowdevice_device_counters;
using PoolStats = struct arrowdevice_pool_stats;

// The simulated devices: two devices with addresses and two with handles.
inline constexpr int64_t kAddresses[] = {0, 1};
inline constexpr int64_t kHandles[] = {2, 3};
inline constexpr int64_t kSims = 4;

// Knobs for tests that do not depend on the rows.
inline constexpr Knobs kPlain{.rows = 40};

// The name of must_fail in tests/faults.
template <typename... Arguments>
std::string refused(Expected expected, Arguments... arguments) {
  return must_fail(expected, arguments...);
}

bool contains(const std::string& text, const std::string& part);

// Fails if more fields of schemas are alive than before. Waits a while, because a stream's thread may release
// its fields after the stream has ended, even a thread of an earlier case.
void expect_fields_gone(int64_t before);

// Waits until the condition holds. Another thread or process makes it true.
void until(const std::function<bool()>& condition);

arrowdevice::sim::Configuration configuration(Peers peers = Peers::kCopy);

// Starts a test. Registers the backend once, and clears work and cached memory that an earlier test has left.
void begin(arrowdevice::sim::Configuration configured = configuration());

arrowdevice_pool_options pool_options();
arrowdevice_import_options import_options(uint32_t flags = 0);

arrowdevice_device_info describe(const arrowdevice_device* device);
Counters counters(const arrowdevice_device* device);
PoolStats stats(const arrowdevice_pool* pool);
int is_ready(const ArrowDeviceArray& array);

// Describe an array by its rows, buffers and children.
Data data_of(int64_t length, std::vector<Buffer> buffers, std::vector<Data> children = {});
Data at(int64_t offset, Data data);
Data with_nulls(int64_t null_count, Data data);

// Returns a record batch that has every kind of data that a copy must read.
Field mixed_batch();

}  // namespace library_test
