// SPDX-License-Identifier: Apache-2.0
// The catalogue of operations. Three injectors play it on simulated devices: each backend call fails in turn (calls), a
// device is lost at each call (losses), and each allocation of host memory fails in turn (allocations). A fourth plays
// a part of it on devices of another backend: each call of the driver fails in turn (driver).
//
//   operations.push_back(of<Scene>({.function = "array_share", .variant = "on the CPU"},
//                                  {.make = [] { return std::make_shared<Scene>(Rows::nested(), kHost); },
//                                   .run = [](Scene& scene, auto* error) { return arrowdevice_array_share(...); },
//                                   .done = ...}));
//
// An injector first plays an operation without failures. Then it plays it anew for each failure, until the operation
// passes without the planned failure. After each run the following must hold:
//
// - The call fails with the code of the failure and a message that names it, or it succeeds without what failed.
// - After a failure the caller still has its inputs unchanged, and the outputs are released.
// - The same call on the same inputs succeeds when there are no failures.
// - The call throws no exception and does not hang.
// - In the end no more arrays, blocks of host memory or objects of devices are alive than before. If the library
//   cannot know when a device has finished with memory, it may give that memory up. It then logs this.
//
// Each operation runs in its own processes, so that a crash names its operation and the others continue.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faults/machine.h"
#include "faults/memory.h"
#include "stress/program.h"

namespace faults {

using namespace stress;  // NOLINT: what every line of these tests is written with

// The value for calls that release arrays. Another thread records deferred work in its pool, so the number
// of allocations varies.
inline constexpr std::optional<bool> kByPace = std::nullopt;

// A call that is ready to run. Its functions own everything that it needs.
struct Attempt {
  std::function<void()> prepare;  // runs before each call, when no failure is planned
  std::function<int(arrowdevice_error* error)> run;
  std::function<int(arrowdevice_error* error)> settle;  // waits after a success until the outputs are complete
  std::function<void()> check_refused;                  // checks inputs and outputs after a failure
  // Checks inputs and outputs after a success. `is_spoiled` means that the work failed later, so that the outputs have
  // no values.
  std::function<void(bool is_spoiled)> check_done;
};

// The injectors that play an operation.
enum Injectors : unsigned { kCalls = 1, kLosses = 2, kAllocations = 4, kAll = 7 };

struct Operation {
  std::string function = {};  // without "arrowdevice_"
  std::string variant = {};
  std::function<Attempt()> make = {};
  Machine machine = {};
  unsigned injectors = kAll;
  std::optional<bool> allocates = true;
  bool has_threads = false;     // threads of the library take part
  bool is_final = false;        // another attempt after a failure needs other inputs
  bool at_first_use = false;    // does its work once in a process
  bool drains = false;          // a failed call waits for all work that it has submitted
  bool keeps_blocks = false;    // keeps host memory until the process ends, so leaks of it are not checked
  std::vector<int> codes = {};  // codes it may fail with beside that of the failure
  // Functions of the backend whose failure the operation may survive.
  std::vector<std::string> may_survive = {};

  std::string name() const { return function + (variant.empty() ? "" : ", " + variant); }
};

// The functions of an operation. A scene may have the functions settle() and check_refused(), and a member is_spoiled.
template <typename Scene>
struct Steps {
  std::function<std::shared_ptr<Scene>()> make = [] { return std::make_shared<Scene>(); };
  std::function<void(Scene& scene)> prepare = [](Scene&) {};
  std::function<int(Scene& scene, arrowdevice_error* error)> run = {};
  std::function<void(Scene& scene)> refused = [](Scene& scene) {
    if constexpr (requires { scene.check_refused(); }) scene.check_refused();
  };
  std::function<void(Scene& scene)> done = [](Scene&) {};
};

template <typename Scene>
Operation of(Operation operation, Steps<Scene> steps) {
  operation.make = [steps] {
    const auto scene = steps.make();
    Attempt attempt;
    attempt.prepare = [scene, prepare = steps.prepare] { prepare(*scene); };
    attempt.run = [scene, call = steps.run](auto* error) { return call(*scene, error); };
    attempt.settle = [scene](auto* error) {
      if constexpr (requires { scene->settle(error); }) return scene->settle(error);
      return 0;
    };
    attempt.check_refused = [scene, refused = steps.refused] { refused(*scene); };
    attempt.check_done = [scene, done = steps.done](bool is_spoiled) {
      if constexpr (requires { scene->is_spoiled; }) scene->is_spoiled = is_spoiled;
      done(*scene);
    };
    return attempt;
  };
  return operation;
}

// Returns an operation that needs no scene.
struct Nothing {};
template <typename Call>
Operation calling(
    Operation operation, Call call, std::function<void()> done = [] {}) {
  return of<Nothing>(std::move(operation), {.run = [call](Nothing&, auto* error) { return call(error); },
                                            .done = [done](Nothing&) { done(); }});
}

using Operations = std::vector<Operation>;

void add_arrays(Operations& operations);
void add_async(Operations& operations);
void add_backends(Operations& operations);
void add_bytes(Operations& operations);
void add_copies(Operations& operations);
void add_devices(Operations& operations);
void add_exports(Operations& operations);
void add_handles(Operations& operations);
void add_links(Operations& operations);
void add_streams(Operations& operations);
void add_tensors(Operations& operations);
void add_views(Operations& operations);

}  // namespace faults
