// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace stress {

namespace {

// A scenario that takes longer counts as a hang. Its own alarm, which survives exec, ends the process.
constexpr unsigned kLongestSeconds = 120;

bool plays_well(const char* program, const char* name) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kLongestSeconds);
    execl(program, program, name, nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) std::fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) std::fprintf(stderr, "ended with %d\n", WEXITSTATUS(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int play_all(std::span<const Scenario> scenarios, const char* program) {
  const char* const path = std::getenv("ARROWDEVICE_TEST_REPORT");
  std::FILE* const report = path != nullptr ? std::fopen(path, "we") : nullptr;
  bool all = true;
  for (const Scenario& scenario : scenarios) {
    const bool well = plays_well(program, scenario.name);
    std::fprintf(stderr, "%s: %s\n", well ? "passed" : "FAILED", scenario.name);
    if (report != nullptr) std::fprintf(report, "%s %s\n", well ? "passed" : "failed", scenario.name);
    all = all && well;
  }
  if (report != nullptr) std::fclose(report);
  return all ? 0 : 1;
}

}  // namespace

int play(std::span<const Scenario> scenarios, int argc, char** argv) {
  if (argc < 2) return play_all(scenarios, argv[0]);
  for (const Scenario& scenario : scenarios) {
    if (std::string(argv[1]) != scenario.name) continue;
    try {
      scenario.run();
    } catch (const Failure& failure) {
      fail(failure.what());
    }
    return 0;
  }
  std::fprintf(stderr, "there is no scenario \"%s\"\n", argv[1]);
  return 2;
}

void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::fflush(stderr);
  _exit(1);
}

void check_equal(int64_t is, int64_t expected, const char* what) {
  if (is != expected) fail(std::string(what) + ": " + std::to_string(is) + ", expected " + std::to_string(expected));
}

void check_same(const std::string& difference) {
  if (!difference.empty()) fail("other rows came back: " + difference);
}

void check_code(int code, int expected, const arrowdevice_error& error) {
  if (code == expected) return;
  fail("code " + std::to_string(code) + ", expected " + std::to_string(expected) + ": " + error.message);
}

Field batch() {
  return struct_of(
             {field("l", "id"), field("u", "name"), list_of(field("u", "item")).named("tags"), field("b", "flag")})
      .not_null();
}

}  // namespace stress
