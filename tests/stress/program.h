// SPDX-License-Identifier: Apache-2.0
// Common code of the programs in this folder. Each program is a list of scenarios. Each scenario runs in
// its own process, because it tests how the library starts and ends with its process. A failed check ends
// the process at once, because no test framework may affect how the process ends.
//
//   void releases_nothing() { ... }
//   constexpr Scenario kScenarios[] = {{"a program that releases nothing ends well", releases_nothing}};
//   int main(int argc, char** argv) { return play(kScenarios, argc, argv); }
//
// Without an argument a program plays all scenarios and reports them to $ARROWDEVICE_TEST_REPORT like the
// Catch2 programs. With the name of a scenario it runs that scenario in its own process, for a debugger.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <functional>
#include <span>
#include <string>

#include "support/field.h"
#include "support/generator.h"
#include "support/host_data.h"
#include "support/owned.h"

namespace stress {

using namespace arrowdevice::testing;  // NOLINT: what every line of these programs is written with

using Array = Owned<ArrowDeviceArray>;
using Schema = Owned<ArrowSchema>;
// The functions of these names hide the structs.
using PoolStats = struct arrowdevice_pool_stats;

struct Scenario {
  const char* name;  // a sentence
  void (*run)();
};

// Plays the scenarios. Returns the exit code for main().
int play(std::span<const Scenario> scenarios, int argc, char** argv);

// Prints the error and ends the process without exit handlers.
[[noreturn]] void fail(const std::string& what);
inline void check(bool holds, const char* what) {
  if (!holds) fail(what);
}
void check_equal(int64_t is, int64_t expected, const char* what);
void check_same(const std::string& difference);  // the expected value is ""

// Makes a call that must succeed or fail with that code. The caller omits the error argument.
void check_code(int code, int expected, const arrowdevice_error& error);

template <typename... Parameters, typename... Arguments>
void must(int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  check_code(function(arguments..., &error), 0, error);
}

template <typename... Parameters, typename... Arguments>
void must_fail(int expected, int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  check_code(function(arguments..., &error), expected, error);
}

arrowdevice_device* cpu();
arrowdevice_device* sim(int64_t id);

// Rows on the CPU with their schema, and the same rows again for comparison.
struct Sample {
  explicit Sample(Field of, Knobs with = {});
  Sample(const Sample&) = delete;

  Array host() const;  // a new array of these rows, counted by the ledger

  Field type;
  Knobs knobs;
  Ledger ledger;  // counts all arrays from host()
  Schema schema;
  Owned<ArrowArray> twin;
};

// Returns the type of a record batch of numbers, text and a nested column.
Field batch();

arrowdevice_copy_options copy_options(uint32_t flags = 0, arrowdevice_queue* queue = nullptr);
Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to, uint32_t flags = 0,
           arrowdevice_queue* queue = nullptr, arrowdevice_pool* pool = nullptr);
Array share(Array& array);
arrowdevice_queue* make_queue(arrowdevice_device* device);
arrowdevice_pool* make_pool(arrowdevice_device* device);

// Returns "" if the array has the sample's rows from `first` on, as many as its length says. The array may
// be on any device.
std::string difference(const Sample& sample, const ArrowDeviceArray& array, int64_t first = 0);

// Runs `body(0)` to `body(n - 1)` on a thread each, starts them at the same moment, and joins them.
void on_threads(int n, const std::function<void(int)>& body);

}  // namespace stress
