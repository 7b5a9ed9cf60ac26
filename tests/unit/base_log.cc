// SPDX-License-Identifier: Apache-2.0
// Tests messages without a handler, and handlers that throw.
#include "base/log.h"

#include "support/catch.h"
#include "support/in_child.h"

namespace {

using arrowdevice::log;
using arrowdevice::LogLevel;

// Returns the output of a process that logs a message of each level. The process reads its environment once.
std::string said_with(const char* level) {
  std::string output;
  const std::string problem = arrowdevice::testing::in_child(
      [&] {
        ::unsetenv("ARROWDEVICE_LOG");
        if (level != nullptr) ::setenv("ARROWDEVICE_LOG", level, 1);
        log(LogLevel::kError, "lost");
        log(LogLevel::kWarning, "slow");
        log(LogLevel::kInfo, "found");
        log(LogLevel::kDebug, "looked");
      },
      &output);
  CHECK(problem == "");
  return output;
}

TEST_CASE("without a handler, standard error gets the messages of ARROWDEVICE_LOG's level") {
  const std::string errors = "arrowdevice: lost\n";
  CHECK(said_with(nullptr) == errors);
  CHECK(said_with("0") == errors);
  CHECK(said_with("2") == errors + "arrowdevice: slow\narrowdevice: found\n");
  CHECK(said_with("3") == errors + "arrowdevice: slow\narrowdevice: found\narrowdevice: looked\n");
  CHECK(said_with("error") == errors);
  CHECK(said_with("warning") == errors + "arrowdevice: slow\n");
  CHECK(said_with("info") == said_with("2"));
  CHECK(said_with("debug") == said_with("3"));
  for (const std::string level : {"loud", "4", "-1", "4294967296", "3 "}) {
    CHECK(said_with(level.c_str()) == "arrowdevice: ARROWDEVICE_LOG=" + level +
                                          ": not a level, which are error, warning, info and debug, or 0 to 3\n" +
                                          errors);
  }
}

// C++ programs may register handlers that throw, because C cannot forbid it.
TEST_CASE("a handler that throws loses only its message") {
  static int calls = 0;
  arrowdevice::log_set_handler(
      [](void*, int, const char*) {
        ++calls;
        throw std::runtime_error("the disk is full");
      },
      nullptr);
  log(LogLevel::kInfo, "found");
  log(LogLevel::kInfo, std::string(5'000, 'x'));
  arrowdevice::log_set_handler(nullptr, nullptr);
  CHECK(calls == 2);
}

}  // namespace
