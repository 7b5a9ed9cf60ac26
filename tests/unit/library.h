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
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/control.h"
#include "support/cases.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/owned.h"
#include "support/reader.h"

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

// Check the result of a call.
void check_success(int code, const arrowdevice_error& error);
std::string check_refusal(int expected, int code, int code_without_error, const arrowdevice_error& error);
arrowdevice_error untouched_error();

// Fails unless the call succeeds. The caller omits the error argument.
template <typename... Parameters, typename... Arguments>
void must(int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error = untouched_error();
  const int code = function(arguments..., &error);
  check_success(code, error);
}

// Fails unless the call fails with that code. Returns the message.
template <typename... Parameters, typename... Arguments>
std::string refused(int expected, int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  const int code = function(arguments..., &error);
  return check_refusal(expected, code, function(arguments..., nullptr), error);
}

bool contains(const std::string& text, const std::string& part);

// Fails if more fields of schemas are alive than before. Waits a while, because a stream's thread may release
// its fields after the stream has ended, even a thread of an earlier case.
void expect_fields_gone(int64_t before);

arrowdevice::sim::Configuration configuration(Peers peers = Peers::kCopy);

arrowdevice_device* cpu();
arrowdevice_device* sim(int64_t id);
arrowdevice_pool* default_pool(arrowdevice_device* device);

// Starts a test. Registers the backend once, and clears work and cached memory that an earlier test has left.
void begin(arrowdevice::sim::Configuration configured = configuration());

// Stops the device's engine while this object lives.
class Held {
 public:
  explicit Held(int64_t id) : id_(id) { control::hold(id); }
  ~Held() { resume(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  void resume() { control::resume(id_); }

 private:
  int64_t id_;
};

Queue make_queue(arrowdevice_device* device);
Pool make_pool(arrowdevice_device* device, const arrowdevice_pool_options* options = nullptr);
arrowdevice_pool_options pool_options();
arrowdevice_copy_options copy_options(uint32_t flags = 0);
arrowdevice_import_options import_options(uint32_t flags = 0);

arrowdevice_device_info describe(const arrowdevice_device* device);
Counters counters(const arrowdevice_device* device);
PoolStats stats(const arrowdevice_pool* pool);
int is_ready(const ArrowDeviceArray& array);

// An array on the CPU, and an equal array to compare with.
struct Sample {
  explicit Sample(Field of, Knobs with = {});

  Field type;
  Knobs knobs;
  Ledger ledger;  // counts the nodes of `host`
  Owned<ArrowSchema> schema;
  Owned<ArrowDeviceArray> host;
  Owned<ArrowArray> twin;
};

using Array = Owned<ArrowDeviceArray>;

// Returns host data as a device array of the CPU.
Array from_host(Owned<ArrowArray> array);

Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to,
           const arrowdevice_copy_options& options);
Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to, uint32_t flags = 0);
Array copy(const Sample& sample, arrowdevice_device* to, uint32_t flags = 0);
Array slice(ArrowDeviceArray& array, const ArrowSchema& schema, int64_t offset, int64_t length);

// Returns "" if the array, on any device, equals the rows of the sample from `first` on. The array's length
// gives the number of rows.
std::string difference(const Sample& sample, const ArrowDeviceArray& array, int64_t first = 0);

// Describe an array by its rows, buffers and children.
Data data_of(int64_t length, std::vector<Buffer> buffers, std::vector<Data> children = {});
Data at(int64_t offset, Data data);
Data with_nulls(int64_t null_count, Data data);

// Returns a record batch that has every kind of data that a copy must read.
Field mixed_batch();

}  // namespace library_test
