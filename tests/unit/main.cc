// SPDX-License-Identifier: Apache-2.0
// Runs every Catch2 test program. Beside Catch2's own output, it writes each test case and its outcome to the
// file that ARROWDEVICE_TEST_REPORT names. It writes each outcome at once, so that a crash loses only the
// case that crashed. scripts/run_tests.py counts the test cases in this file.
#include <cstdio>
#include <cstdlib>
#include <memory>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#endif

namespace {

#if __has_include(<catch2/catch_all.hpp>)
using ListenerBase = Catch::EventListenerBase;
const char* name_of(const Catch::TestCaseStats& stats) { return stats.testInfo->name.c_str(); }
bool skipped(const Catch::TestCaseStats& stats) { return stats.totals.testCases.skipped > 0; }
#else
using ListenerBase = Catch::TestEventListenerBase;
const char* name_of(const Catch::TestCaseStats& stats) { return stats.testInfo.name.c_str(); }
bool skipped(const Catch::TestCaseStats&) { return false; }
#endif

class Report : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    ListenerBase::testCaseEnded(stats);
    if (!file_) return;
    const char* outcome = stats.totals.testCases.failed > 0 ? "failed" : skipped(stats) ? "skipped" : "passed";
    std::fprintf(file_.get(), "%s %s\n", outcome, name_of(stats));
    std::fflush(file_.get());
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  static std::FILE* open() {
    const char* path = std::getenv("ARROWDEVICE_TEST_REPORT");
    return path == nullptr ? nullptr : std::fopen(path, "w");
  }

  std::unique_ptr<std::FILE, Close> file_{open()};
};

CATCH_REGISTER_LISTENER(Report)

}  // namespace

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
