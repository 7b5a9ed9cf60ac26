// SPDX-License-Identifier: Apache-2.0
// Registers every conformance case as a test case, on the devices that the environment names:
//
//   ARROWDEVICE_TEST_DEVICES  "cpu", "ext_dev:0,ext_dev:1": names for arrowdevice_device_find_by_name()
//   ARROWDEVICE_TEST_LACKS    the abilities that all of these devices lack, of "events", "peer", "discrete", "direct",
//                             "bounds", "backlog", "shareable". Cases that need such an ability are left out. A device
//                             that lacks any other ability fails.
#include <cstdlib>
#include <sstream>
#include <vector>

#include "conformance/conformance.h"
#include "support/calls.h"
#include "support/catch.h"

// Lets the address sanitizer return NULL if an allocation is too large, because a case expects ENOMEM. By
// default the sanitizer ends the program.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace {

namespace conformance = arrowdevice::conformance;
using arrowdevice::testing::output_of;

std::vector<std::string> words(const char* variable) {
  const char* value = std::getenv(variable);
  std::stringstream text(value == nullptr ? "" : value);
  std::vector<std::string> found;
  for (std::string word; std::getline(text, word, ',');) found.push_back(word);
  return found;
}

uint32_t lacking() {
  uint32_t needs = 0;
  for (const std::string& word : words("ARROWDEVICE_TEST_LACKS")) {
    if (word == "events") needs |= conformance::kNeedsEvents;
    if (word == "peer") needs |= conformance::kNeedsPeer;
    if (word == "discrete") needs |= conformance::kNeedsDiscrete;
    if (word == "direct") needs |= conformance::kNeedsDirect;
    if (word == "bounds") needs |= conformance::kNeedsBounds;
    if (word == "backlog") needs |= conformance::kNeedsBacklog;
    if (word == "shareable") needs |= conformance::kNeedsShareable;
  }
  return needs;
}

class Invoker : public Catch::ITestInvoker {
 public:
  Invoker(std::string device, const conformance::Case& one) : device_(std::move(device)), case_(one) {}

  void invoke() const override {
    arrowdevice_error error{};
    arrowdevice_device* device = nullptr;
    INFO(device_);
    const int code = arrowdevice_device_find_by_name(device_.c_str(), &device, &error);
    INFO(error.message);
    REQUIRE(code == 0);
    const conformance::Result result = conformance::run(case_, device);
    INFO(result.message);
    CHECK(result.outcome == conformance::Outcome::kPassed);
  }

 private:
  std::string device_;
  const conformance::Case& case_;
};

// Does the work of Catch2's registration macros, because the macros support only names that are known at
// compile time.
void add_test(const std::string& name, const std::string& device, const conformance::Case& one) {
  auto* const invoker = new Invoker(device, one);
#if CATCH_VERSION_MAJOR >= 3
  Catch::AutoReg(Catch::Detail::unique_ptr<Catch::ITestInvoker>(invoker), CATCH_INTERNAL_LINEINFO, Catch::StringRef(),
                 Catch::NameAndTags{name, "[conformance]"});
#else
  Catch::AutoReg(invoker, CATCH_INTERNAL_LINEINFO, Catch::StringRef(), Catch::NameAndTags(name, "[conformance]"));
#endif
}

const bool registered = [] {
  for (const std::string& device : words("ARROWDEVICE_TEST_DEVICES")) {
    for (const conformance::Case& one : conformance::cases()) {
      if ((one.needs & lacking()) == 0) add_test(device + ": " + one.name, device, one);
    }
  }
  return true;
}();

TEST_CASE("every conformance case has a name of its own") {
  REQUIRE(registered);
  for (const conformance::Case& one : conformance::cases()) {
    int times = 0;
    for (const conformance::Case& other : conformance::cases()) times += std::string(one.name) == other.name;
    INFO(one.name);
    CHECK(times == 1);
  }
}

// Runs last, so that a driver that checks for leaks when the process ends finds no memory of the library.
TEST_CASE("trimming the default pools returns all cached memory to the driver") {
  int64_t count = output_of(arrowdevice_device_list, nullptr, 0);
  std::vector<arrowdevice_device*> devices(static_cast<size_t>(count));
  REQUIRE(arrowdevice_device_list(devices.data(), count, &count, nullptr) == 0);
  for (arrowdevice_device* const device : devices) {
    auto* pool = output_of(arrowdevice_device_get_pool, device);
    CHECK(arrowdevice_pool_trim(pool, nullptr) == 0);
    auto stats = output_of(arrowdevice_pool_get_stats, pool);
    CHECK(stats.cached_bytes == 0);
  }
}

}  // namespace
