// SPDX-License-Identifier: Apache-2.0
// The library as a test calls it, linked statically, with simulated devices that the test holds in its hand.
//
//   begin();                                          // four devices, nothing held, lost, kept or counted
//   Sample sample(list_of(field("u")));
//   Held engine(0);                                   // what is pending stays so
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

// The functions of these names hide the structs.
using Counters = struct arrowdevice_device_counters;
using PoolStats = struct arrowdevice_pool_stats;

// The simulated devices: two with addresses, two with handles.
inline constexpr int64_t kAddresses[] = {0, 1};
inline constexpr int64_t kHandles[] = {2, 3};
inline constexpr int64_t kSims = 4;

// Rows for where any will do.
inline constexpr Knobs kPlain{.rows = 40};

// What calls come to, as checks.
void check_success(int code, const arrowdevice_error& error);
std::string check_refusal(int expected, int code, int code_without_error, const arrowdevice_error& error);
arrowdevice_error untouched_error();

// A call that must succeed, given without its error.
template <typename... Parameters, typename... Arguments>
void must(int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error = untouched_error();
  const int code = function(arguments..., &error);
  check_success(code, error);
}

// A call that must fail with that code. Returns the message.
template <typename... Parameters, typename... Arguments>
std::string refused(int expected, int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  const int code = function(arguments..., &error);
  return check_refusal(expected, code, function(arguments..., nullptr), error);
}

bool contains(const std::string& text, const std::string& part);

// No more fields of schemas are alive than before. Threads of streams, those of earlier cases too, let go of theirs a
// moment after the streams have ended.
void expect_fields_gone(int64_t before);

arrowdevice::sim::Configuration configuration(Peers peers = Peers::kCopy);

arrowdevice_device* cpu();
arrowdevice_device* sim(int64_t id);
arrowdevice_pool* default_pool(arrowdevice_device* device);

// Every test begins here: the backend is registered once, what a test before has left pending or kept is gone.
void begin(arrowdevice::sim::Configuration configured = configuration());

// While it lives, the device's engine does nothing.
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

// An array on the CPU, and its like to compare with.
struct Sample {
  explicit Sample(Field of, Knobs with = {});

  Field type;
  Knobs knobs;
  Ledger ledger;  // of `host`
  Owned<ArrowSchema> schema;
  Owned<ArrowDeviceArray> host;
  Owned<ArrowArray> twin;
};

using Array = Owned<ArrowDeviceArray>;

// Host data as a device array of the CPU.
Array from_host(Owned<ArrowArray> array);

Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to,
           const arrowdevice_copy_options& options);
Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to, uint32_t flags = 0);
Array copy(const Sample& sample, arrowdevice_device* to, uint32_t flags = 0);
Array slice(ArrowDeviceArray& array, const ArrowSchema& schema, int64_t offset, int64_t length);

// "" if the array, wherever it is, has the rows of the sample from `first` on, and as many as it has itself.
std::string difference(const Sample& sample, const ArrowDeviceArray& array, int64_t first = 0);

// An array written down: rows, buffers, children.
Data data_of(int64_t length, std::vector<Buffer> buffers, std::vector<Data> children = {});
Data at(int64_t offset, Data data);
Data with_nulls(int64_t null_count, Data data);

// A record batch with a bit of everything that has to be read to be copied.
Field mixed_batch();

}  // namespace library_test
