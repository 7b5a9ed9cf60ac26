// SPDX-License-Identifier: Apache-2.0
// What is done with backends that may crash or hang: in a process of its own, which is this program started anew.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "conformance/conformance.h"

namespace arrowdevice::tool {

// A device to check, or why one that was named cannot be.
struct Subject {
  std::string device;   // "cuda:1"
  std::string backend;  // its name
  std::string missing;  // empty: it is there
};

// The devices with those names and those of the plugins at those absolute paths; all that there are without either.
// Throws std::runtime_error where that cannot be told.
std::vector<Subject> find_subjects(const std::vector<std::string>& devices, const std::vector<std::string>& plugins,
                                   std::chrono::seconds patience);

struct CasesRun {
  bool is_open;     // the device was there
  size_t ended;     // how many of the cases came to an end; the one behind them is where the process did not go on
  std::string end;  // how the process ended, if not well: "it was ended by signal 11 (Segmentation fault)"
};

// Runs the cases with those positions in conformance::cases() on a device, each for at most `patience`. `done` is told
// of each as it ends. Throws std::runtime_error where no process can be started.
CasesRun run_cases(const std::string& device, const std::vector<std::string>& plugins, const std::vector<size_t>& cases,
                   std::chrono::seconds patience,
                   const std::function<void(size_t index, conformance::Outcome, const std::string& message)>& done);

// Ends a process that has left arrays, memory and queues of a device to its exit handlers, and says how that went; ""
// if well. Throws std::runtime_error where no process can be started.
std::string end_with_things_left(const std::string& device, const std::vector<std::string>& plugins,
                                 std::chrono::seconds patience);

// The first arguments of such processes, and what these do with the arguments behind them: they return the exit code.
inline constexpr const char* kFindSubjects = "--find-subjects";
inline constexpr const char* kRunCases = "--run-cases";
inline constexpr const char* kLeaveThings = "--leave-things";
int find_subjects_here(const std::vector<std::string>& arguments);
int run_cases_here(const std::vector<std::string>& arguments);
int leave_things_here(const std::vector<std::string>& arguments);

}  // namespace arrowdevice::tool
