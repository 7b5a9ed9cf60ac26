// SPDX-License-Identifier: Apache-2.0
// Tests that every call with a time-out returns ETIMEDOUT in time on a device that hangs, called from C and from C++.
// The other languages test the calls of the same list.
#include "cpp/cpp.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

namespace {

using namespace cpp_test;  // NOLINT: what every line of these tests is written with
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLimit{200};
constexpr std::chrono::milliseconds kInTime{2000};
constexpr int64_t kLimitNs = std::chrono::nanoseconds(kLimit).count();

ad::Device hanging() { return ad::Device::find_by_name("ext_dev:2"); }

arrowdevice_copy_options limited(uint32_t flags = 0) {
  auto options = ad::copy_options(flags);
  options.timeout_ns = kLimitNs;
  return options;
}

arrowdevice_import_options limited_import() {
  auto options = ad::import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
  options.timeout_ns = kLimitNs;
  return options;
}

// Texts on the CPU, and a copy of them that never ends.
struct Pending {
  ad::TypedArray source = ad::make_array(std::vector<std::string>{"a", "bc", "def"});
  ad::Queue queue{hanging()};
  ad::DeviceArray there;
  const ad::Schema& schema = source.schema;

  Pending() {
    auto options = ad::copy_options(ARROWDEVICE_COPY_ASYNC);
    options.queue = queue.get();
    there = source.array.share().copy(schema, hanging(), options);
  }

  // A stream to the CPU. Its only array is the copy that never ends.
  ad::DeviceArrayStream stream() {
    std::vector<ad::DeviceArray> arrays;
    arrays.push_back(std::move(there));
    auto options = ad::stream_options();
    options.timeout_ns = kLimitNs;
    return ad::DeviceArrayStream::from_arrays(ad::Schema::copy_of(*schema), std::move(arrays), ARROW_DEVICE_EXT_DEV)
        .to_device(ad::Device::find_by_name("cpu"), options);
  }
};

struct Call {
  int (*c)(Pending& pending);
  void (*cpp)(Pending& pending);
};

const std::map<std::string, Call>& calls() {
  static const std::map<std::string, Call> all = {
      {"to_device",
       {[](Pending& pending) {
          const auto options = limited();
          ArrowDeviceArray out;
          const int code = arrowdevice_array_to_device(pending.source.array.get(), pending.schema.get(),
                                                       hanging().get(), &options, &out, nullptr);
          CHECK(out.array.release == nullptr);
          return code;
        },
        [](Pending& pending) { std::move(pending.source.array).to_device(pending.schema, hanging(), limited()); }}},
      {"copy",
       {[](Pending& pending) {
          const auto options = limited();
          ArrowDeviceArray out;
          return arrowdevice_array_copy(pending.source.array.get(), pending.schema.get(), hanging().get(), &options,
                                        &out, nullptr);
        },
        [](Pending& pending) { pending.source.array.copy(pending.schema, hanging(), limited()); }}},
      {"to_host",
       {[](Pending& pending) {
          const auto options = limited();
          ArrowArray out;
          return arrowdevice_array_to_host(pending.there.get(), pending.schema.get(), &options, &out, nullptr);
        },
        [](Pending& pending) { std::move(pending.there).to_host(pending.schema, limited()); }}},
      {"get_ipc_handle",
       {[](Pending& pending) {
          const auto options = limited();
          arrowdevice_ipc_handle out;
          return arrowdevice_array_get_ipc_handle(pending.there.get(), pending.schema.get(), &options, &out, nullptr);
        },
        [](Pending& pending) { pending.there.ipc_handle(pending.schema, limited()); }}},
      {"import",
       {[](Pending& pending) {
          const auto options = limited_import();
          arrowdevice_view* out = nullptr;
          return arrowdevice_array_import(pending.there.get(), pending.schema.get(), &options, &out, nullptr);
        },
        [](Pending& pending) { ad::View(std::move(pending.there), pending.schema, limited_import()); }}},
      {"stream",
       {[](Pending& pending) {
          ad::DeviceArrayStream stream = pending.stream();
          ArrowDeviceArray out;
          return stream->get_next(stream.get(), &out);
        },
        [](Pending& pending) { pending.stream().next(); }}},
      {"wait",
       {[](Pending& pending) { return arrowdevice_array_wait(pending.there.get(), nullptr, kLimitNs, nullptr); },
        [](Pending& pending) { pending.there.wait(kLimit); }}},
      {"finish",
       {[](Pending& pending) { return arrowdevice_queue_finish(pending.queue.get(), kLimitNs, nullptr); },
        [](Pending& pending) { pending.queue.finish(kLimit); }}},
      {"wait_idle",
       {[](Pending& pending) {
          pending.there.reset();
          return arrowdevice_wait_idle(kLimitNs, nullptr);
        },
        [](Pending& pending) {
          pending.there.reset();
          ad::wait_idle(kLimit);
        }}},
  };
  return all;
}

std::vector<std::string> listed_calls() {
  const char* path = std::getenv("ARROWDEVICE_TEST_LIMITED_CALLS");
  REQUIRE(path != nullptr);
  std::ifstream file(path);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') names.push_back(line);
  }
  REQUIRE(!names.empty());
  return names;
}

// The caller keeps the source of a copy after ETIMEDOUT, so every array of this test lives as long as the process.
Pending& made_for_one_call() {
  static std::vector<std::unique_ptr<Pending>> all;
  all.push_back(std::make_unique<Pending>());
  return *all.back();
}

}  // namespace

TEST_CASE("every listed call from C and C++ ends in time on a device that hangs") {
  for (const std::string& name : listed_calls()) {
    INFO(name);
    const auto found = calls().find(name);
    REQUIRE(found != calls().end());
    for (const bool from_c : {true, false}) {
      INFO((from_c ? "from C" : "from C++"));
      Pending& pending = made_for_one_call();
      const auto begin = Clock::now();
      if (from_c) {
        CHECK(found->second.c(pending) == ETIMEDOUT);
      } else {
        refused(ETIMEDOUT, [&] { found->second.cpp(pending); });
      }
      const auto elapsed = Clock::now() - begin;
      CHECK(elapsed >= kLimit);
      CHECK(elapsed < kInTime);
    }
  }
}
