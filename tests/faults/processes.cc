// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "faults/injector.h"
#include "support/ending.h"

namespace faults {
namespace {

[[noreturn]] void end_by_terminate() {
  memory::end();
  std::string what = "it is no exception";
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "of unknown type";
  }
  fail("std::terminate was called, with an exception that nothing caught: " + what);
}

}  // namespace

bool ends_well(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    std::set_terminate(end_by_terminate);
    try {
      body();
    } catch (const Failure& failure) {
      fail(failure.what());
    }
    arrowdevice::testing::end_child(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) std::fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
  return status == 0;
}

void report(const Operation& operation, const std::string& place) {
  std::fprintf(stderr, "  in %s: %s\n", operation.name().c_str(), place.c_str());
}

}  // namespace faults
