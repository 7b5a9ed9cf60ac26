// SPDX-License-Identifier: Apache-2.0
// Prints the outcomes of a program of scripts/gpu-check.sh, one a line, and counts them:
//
//   passed: an asynchronous copy returns while its source is pending
//   FAILED: a lost GPU gives EIO: code 22
//   not run: a second GPU goes on: there is one GPU only
//   measured: {"name": "allocate 1 MiB, threshold 0", "seconds": 1e-05, "driver_seconds": 8e-06, "bytes": 0}
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace hardware {

class Report {
 public:
  // Runs a check, which fails if the body throws.
  template <typename Body>
  void check(const std::string& name, Body&& body) {
    std::string failure;
    try {
      body();
    } catch (const std::exception& error) {
      failure = std::string(": ") + error.what();
    }
    std::printf("%s: %s%s\n", failure.empty() ? "passed" : "FAILED", name.c_str(), failure.c_str());
    std::fflush(stdout);
    ++(failure.empty() ? passed_ : failed_);
  }

  void not_run(const std::string& name, const std::string& reason) {
    std::printf("not run: %s: %s\n", name.c_str(), reason.c_str());
    std::fflush(stdout);
  }

  // Prints the time of the library beside that of plain driver calls. `bytes` is 0 if the work is no copy.
  void measured(const std::string& name, double seconds, double driver_seconds, int64_t bytes) {
    std::printf("measured: {\"name\": \"%s\", \"seconds\": %.4g, \"driver_seconds\": %.4g, \"bytes\": %lld}\n",
                name.c_str(), seconds, driver_seconds, static_cast<long long>(bytes));
    std::fflush(stdout);
  }

  // Prints the counts. Returns the exit code of the program.
  int end() const {
    std::printf("%d passed, %d failed\n", passed_, failed_);
    return failed_ == 0 && passed_ > 0 ? 0 : 1;
  }

 private:
  int passed_ = 0;
  int failed_ = 0;
};

// Runs the program. An exception counts as a failed check.
template <typename Body>
int run(Body&& body) {
  Report report;
  try {
    body(report);
  } catch (const std::exception& error) {
    report.check("the program runs to its end", [&] { throw std::runtime_error(error.what()); });
  }
  return report.end();
}

}  // namespace hardware
