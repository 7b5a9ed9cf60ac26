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

#include "support/fixture.h"

namespace stress {

using namespace arrowdevice::testing;  // NOLINT: what every line of these programs is written with

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

// Checks the code of a call for tests/faults.
void check_code(int code, int expected, const arrowdevice_error& error);

// Returns the type of a record batch of numbers, text and a nested column.
Field batch();

}  // namespace stress
