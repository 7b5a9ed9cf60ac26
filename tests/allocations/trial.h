// SPDX-License-Identifier: Apache-2.0
// One public function after another, with each allocation of host memory that it makes failing in turn.
//
//   scenarios.push_back({.function = "array_share", .variant = "on the host", .make = [] {
//     const auto scene = std::make_shared<Scene>(...);
//     Attempt attempt;
//     attempt.run = [scene](auto* error) { return arrowdevice_array_share(..., error); };
//     ...
//     return attempt;
//   }});
//
// The call is made as it should go, and what it allocates is counted. Then it is made with the n-th allocation failing;
// with that and all after it; and with these but for what the backend needs, so that the library alone has no memory.
// Functions whose work is done by threads of the library are also called with the n-th allocation of any thread
// failing. n is each number up to the count, but of allocations with the same call stack only a few. What must hold
// then:
//
// - It fails with ENOMEM and a message that says so, or it does without that memory.
// - Inputs are the caller's and equal to what they were, outputs are released.
// - The same call on the same inputs succeeds once there is memory again.
// - No exception leaves it, it ends, and in the end nothing more is alive than before: arrays, blocks of host memory,
//   and what the devices count. Where a device itself has no memory for an event, the library may give memory up that
//   a copy may still use; it then says so in its log.
//
// Each scenario is played in processes of its own, so that one that dies says where and the others go on: in one for
// all of it, and in a fresh one for each allocation that is made at first use only.
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

// Of arrays that go: what is deferred is noted down in its pool by another thread.
inline constexpr std::optional<bool> kByPace = std::nullopt;

// A call that is ready to be made. What it needs is kept by the functions.
struct Attempt {
  std::function<int(arrowdevice_error* error)> run;
  // After a failure: checks that the inputs are as before and the outputs released.
  std::function<void()> check_refused = [] {};
  // After a success: checks inputs and outputs.
  std::function<void()> check_done = [] {};
};

struct Scenario {
  std::string function;  // without "arrowdevice_"
  std::string variant;
  std::function<Attempt()> make;
  Machine machine = {};
  std::optional<bool> allocates = true;
  bool has_threads = false;     // of the library, which take part
  bool is_final = false;        // another attempt after a failure needs other inputs
  bool only_first = false;      // it does its work once in a process
  bool keeps_blocks = false;    // of host memory, for ever: leaks of it are not looked for
  std::vector<int> codes = {};  // with which it may fail, beside ENOMEM

  std::string name() const { return function + (variant.empty() ? "" : ", " + variant); }
};

using Call = std::function<int(arrowdevice_error* error)>;

// Of a call that takes and makes no array.
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
  int64_t allocations = 0;        // of the first call in a process
  int64_t allocations_later = 0;  // of another one
};

// Plays it in all ways. `plugin`: the file of the simulation as a plugin.
Outcome play(const Scenario& scenario, const char* plugin);

}  // namespace allocations
