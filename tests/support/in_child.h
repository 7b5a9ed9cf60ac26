// SPDX-License-Identifier: Apache-2.0
// Runs a test in a forked child process, because the test ends the process or can run only once in a process.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "support/calls.h"

namespace arrowdevice::testing {

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Runs the body in a child process. Returns "" if the body returns and the process then exits with 0. Else
// returns the text of the exception or the signal that ended the process. `output` receives the child's
// standard error.
template <typename Body>
std::string in_child(Body&& body, std::string* output = nullptr) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return "no process";
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::signal(SIGABRT, SIG_DFL);
    ::signal(SIGSEGV, SIG_DFL);
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::fflush(stderr);
      ::_exit(1);
    }
    // Runs the exit handlers, because the stand-in checks there that all objects were released.
    std::exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char piece[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], piece, sizeof piece)) > 0;) said.append(piece, static_cast<size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (output != nullptr) *output = said;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  if (WIFSIGNALED(status)) said += std::string("ended by ") + ::strsignal(WTERMSIG(status));
  return said.empty() ? "failed and said nothing" : said;
}

// Like in_child(), but an alarm ends a body that hangs.
template <typename Body>
std::string in_limited_child(Body&& body) {
  constexpr unsigned kMostSeconds = 60;
  return in_child([&] {
    ::alarm(kMostSeconds);
    body();
  });
}

}  // namespace arrowdevice::testing
