// SPDX-License-Identifier: Apache-2.0
// The injectors, and the processes in which they play operations.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <string>

#include "faults/operation.h"

namespace faults {

// The n-th failure of one kind. If n is 0, there is no failure.
struct Place {
  int way = 0;
  int64_t n = 0;
};

struct Outcome {
  bool is_well = false;
  int64_t failures = 0;
  std::string text;                  // the failures of each kind
  std::set<std::string> kinds = {};  // the kinds of failure that happened
};

class Injector {
 public:
  virtual ~Injector() = default;
  virtual Injectors id() const = 0;
  virtual bool plays(const Operation& operation) const { return (operation.injectors & id()) != 0; }
  // Plays all failures of the operation. `plugin` is the file of the simulation as a plugin.
  virtual Outcome play(const Operation& operation, const char* plugin) = 0;
};

std::unique_ptr<Injector> inject_calls();
std::unique_ptr<Injector> inject_losses();
std::unique_ptr<Injector> inject_driver_calls();
std::unique_ptr<Injector> inject_allocations();

// -- processes

inline constexpr int kMostFailures = 6;          // an operation stops after this number of failed checks
inline constexpr unsigned kLongestSeconds = 60;  // a place that takes longer counts as a hang

// Runs the body in a child process. Returns true if all its checks hold.
bool ends_well(const std::function<void()>& body);

// Prints the place of a failed check.
void report(const Operation& operation, const std::string& place);

// Returns an object that child processes share with this process.
template <typename Object>
Object& make_shared_object() {
  void* const page = mmap(nullptr, sizeof(Object), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) fail("no page can be shared");
  return *new (page) Object;
}

}  // namespace faults
