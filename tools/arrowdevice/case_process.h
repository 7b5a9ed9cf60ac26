// SPDX-License-Identifier: Apache-2.0
// Runs the steps that may crash or hang in a separate process, which is this program started again.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "conformance/conformance.h"

namespace arrowdevice::tool {

// A device to check, or the reason why a named device is missing.
struct Subject {
  std::string device;   // "cuda:1"
  std::string backend;  // its name
  std::string missing;  // empty if the device is available
};

// Returns the named devices and the devices of the plugins at these absolute paths. Returns all devices if both lists
// are empty. Throws std::runtime_error if the process fails.
std::vector<Subject> find_subjects(const std::vector<std::string>& devices, const std::vector<std::string>& plugins,
                                   std::chrono::seconds patience);

struct CasesRun {
  bool is_open;     // true if the device was opened
  size_t ended;     // number of completed cases; the process stopped in the next case
  std::string end;  // how the process ended if it failed: "it was ended by signal 11 (Segmentation fault)"
};

// Runs the cases with these positions in conformance::cases() on a device. Each case may take at most `patience`. Calls
// `done` when a case ends. Throws std::runtime_error if no process can be started.
CasesRun run_cases(const std::string& device, const std::vector<std::string>& plugins, const std::vector<size_t>& cases,
                   std::chrono::seconds patience,
                   const std::function<void(size_t index, conformance::Outcome, const std::string& message)>& done);

// Runs a process that leaves arrays, memory and queues of a device to its exit handlers. Returns an empty string if it
// ends well, and otherwise the problem. Throws std::runtime_error if no process can be started.
std::string end_with_things_left(const std::string& device, const std::vector<std::string>& plugins,
                                 std::chrono::seconds patience);

// The first arguments of such processes, and the functions that run in them. The functions take the remaining arguments
// and return the exit code.
inline constexpr const char* kFindSubjects = "--find-subjects";
inline constexpr const char* kRunCases = "--run-cases";
inline constexpr const char* kLeaveThings = "--leave-things";
int find_subjects_here(const std::vector<std::string>& arguments);
int run_cases_here(const std::vector<std::string>& arguments);
int leave_things_here(const std::vector<std::string>& arguments);

}  // namespace arrowdevice::tool
