// SPDX-License-Identifier: Apache-2.0
// Calls the public functions in sequence. Each allocation of host memory that a function makes fails in
// turn.
//
//   scenarios.push_back({.function = "array_share", .variant = "on the host", .make = [] {
//     const auto scene = std::make_shared<Scene>(...);
//     Attempt attempt;
//     attempt.run = [scene](auto* error) { return arrowdevice_array_share(..., error); };
//     ...
//     return attempt;
//   }});
//
// First the call runs without failures, and its allocations are counted. Then it runs again for each n up
// to that count in these modes:
//
// - The n-th allocation fails.
// - The n-th allocation and all later ones fail.
// - The n-th allocation and all later ones fail, but the backend's allocations succeed. Only the library
//   has no memory.
// - The n-th allocation on any thread fails. This mode is for functions whose work runs on threads of the
//   library.
//
// Only a few allocations with the same call stack are tried. After each call the following must hold:
//
// - The call fails with ENOMEM and a message about memory, or it succeeds without that memory.
// - After a failure the caller still has its inputs unchanged, and the outputs are released.
// - The same call on the same inputs succeeds when memory is available again.
// - The call throws no exception and does not hang.
// - In the end no more arrays, blocks of host memory or objects of devices are alive than before. If a
//   device has no memory for an event, the library may give up memory that a copy may still use. The
//   library then logs this.
//
// Each scenario runs in its own processes, so that a crash names its scenario and the others continue. A first process
// plays the whole scenario. A fresh process plays each allocation that happens only at first use.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocations/machine.h"
#include "allocations/memory.h"
#include "stress/program.h"

namespace allocations {

using namespace stress;  // NOLINT: what every line of these tests is written with

// The value for calls that release arrays. Another thread records deferred work in its pool, so the number
// of allocations varies.
inline constexpr std::optional<bool> kByPace = std::nullopt;

// A call that is ready to run. Its functions own everything that it needs.
struct Attempt {
  std::function<int(arrowdevice_error* error)> run;
  // Checks after a failure that the inputs are unchanged and the outputs are released.
  std::function<void()> check_refused = [] {};
  // Checks inputs and outputs after a success.
  std::function<void()> check_done = [] {};
};

struct Scenario {
  std::string function;  // without "arrowdevice_"
  std::string variant;
  std::function<Attempt()> make;
  Machine machine = {};
  std::optional<bool> allocates = true;
  bool has_threads = false;     // threads of the library take part
  bool is_final = false;        // another attempt after a failure needs other inputs
  bool only_first = false;      // does its work once in a process
  bool keeps_blocks = false;    // keeps host memory until the process ends, so leaks of it are not checked
  std::vector<int> codes = {};  // codes it may fail with beside ENOMEM

  std::string name() const { return function + (variant.empty() ? "" : ", " + variant); }
};

using Call = std::function<int(arrowdevice_error* error)>;

// Returns a scenario for a call that takes and returns no array.
Scenario calling(
    const char* function, std::string variant, bool allocates, Call call, Machine machine = {},
    std::function<void()> done = [] {});

using Scenarios = std::vector<Scenario>;

void add_arrays(Scenarios& scenarios);
void add_async(Scenarios& scenarios);
void add_backends(Scenarios& scenarios);
void add_bytes(Scenarios& scenarios);
void add_copies(Scenarios& scenarios);
void add_devices(Scenarios& scenarios);
void add_streams(Scenarios& scenarios);
void add_tensors(Scenarios& scenarios);
void add_views(Scenarios& scenarios);

struct Outcome {
  bool is_well = false;
  int64_t allocations = 0;        // by the first call in a process
  int64_t allocations_later = 0;  // by a later call
};

// Plays the scenario in all modes. `plugin` is the file of the simulation as a plugin.
Outcome play(const Scenario& scenario, const char* plugin);

}  // namespace allocations
