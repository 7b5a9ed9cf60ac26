// SPDX-License-Identifier: Apache-2.0
// Tests the functions about the library, its backends and its deferred work.
#include <mutex>

#include "library.h"
#include "support/callback.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

arrowdevice_backend_report explained(int64_t index) { return output_of(arrowdevice_backend_get_report, index); }

int64_t looks() {
  auto report = sized<arrowdevice_backend_report>();
  int64_t n = 0;
  while (arrowdevice_backend_get_report(n, &report, nullptr) == 0) ++n;
  return n;
}

TEST_CASE("the version is that of the header") {
  const std::string version = std::to_string(ARROWDEVICE_VERSION_MAJOR) + "." +
                              std::to_string(ARROWDEVICE_VERSION_MINOR) + "." +
                              std::to_string(ARROWDEVICE_VERSION_PATCH);
  CHECK(arrowdevice_version() == version);
}

struct Log {
  std::mutex mutex;
  std::vector<std::pair<int, std::string>> lines;

  static void add(void* user, int level, const char* message) {
    enter_callback("the log handler");
    auto& log = *static_cast<Log*>(user);
    const std::lock_guard lock(log.mutex);
    log.lines.emplace_back(level, message);
  }
};

TEST_CASE("log lines go to the program's handler, with its data, until it is taken away") {
  begin();
  Log first, second;
  int not_a_buffer = 0;
  const auto complain = [&] { arrowdevice_buffer_free(sim(0), nullptr, &not_a_buffer); };
  arrowdevice_log_set_handler(Log::add, &first);
  complain();
  arrowdevice_log_set_handler(Log::add, &second);
  complain();
  complain();
  arrowdevice_log_set_handler(nullptr, nullptr);
  REQUIRE(first.lines.size() == 1);
  CHECK(first.lines[0].first == 0);
  CHECK(contains(first.lines[0].second, "not a buffer that was allocated on ext_dev:0"));
  CHECK(first.lines[0].second.find('\n') == std::string::npos);
  CHECK(second.lines.size() == 2);
}

TEST_CASE("a registered backend serves its device types and is reported") {
  begin();
  int64_t count = output_of(arrowdevice_device_count, ARROW_DEVICE_EXT_DEV);
  CHECK(count == kSims);
  bool is_reported = false;
  for (int64_t i = 0; i < looks(); ++i) {
    const auto report = explained(i);
    if (std::string(report.name) != "sim" || report.status != 0) continue;
    is_reported = true;
    CHECK(std::string(report.path).empty());
    CHECK(contains(report.reason, "ext_dev"));
  }
  CHECK(is_reported);
  CHECK(std::string(explained(0).name) == "cpu");
}

TEST_CASE("a second backend with the same name or device type is refused") {
  begin();
  must_fail_saying(EEXIST, "sim", arrowdevice_backend_register, control::table());
  arrowdevice_backend other = *control::table();
  other.name = "other";
  must_fail_saying(EEXIST, "ext_dev is served by the backend sim", arrowdevice_backend_register, &other);
  const ArrowDeviceType cpu_type[] = {ARROW_DEVICE_CPU};
  other.device_types = cpu_type;
  must_fail_saying(EEXIST, "cpu", arrowdevice_backend_register, &other);
}

TEST_CASE("an unusable table is not registered") {
  begin();
  const int64_t before = looks();
  const ArrowDeviceType type[] = {70};
  const auto refusal = [&](int code, auto spoil) {
    arrowdevice_backend table = *control::table();
    table.name = "spoiled";
    table.device_types = type;
    spoil(table);
    return must_fail(code, arrowdevice_backend_register, &table);
  };
  must_fail_saying(EINVAL, "table", arrowdevice_backend_register, nullptr);
  CHECK(contains(refusal(EINVAL, [](auto& t) { t.struct_size = 16; }), "16 bytes"));
  CHECK(contains(refusal(ENOTSUP, [](auto& t) { t.abi_version = 2; }), "version 2"));
  CHECK(contains(refusal(EINVAL, [](auto& t) { t.name = nullptr; }), "name"));
  CHECK(contains(refusal(EINVAL, [](auto& t) { t.name = "Upper"; }), "name"));
  CHECK(contains(refusal(EINVAL, [](auto& t) { t.name = "sixteen_letters_"; }), "name"));
  CHECK(contains(refusal(EINVAL, [](auto& t) { t.device_types = nullptr; }), "device types"));
  CHECK(contains(refusal(EINVAL, [](auto& t) { t.n_device_types = 0; }), "device types"));
  CHECK(contains(refusal(EINVAL, [](auto& t) { t.event_wait = nullptr; }), "event_wait"));
  CHECK(contains(refusal(EINVAL, [](auto& t) { t.sub_buffer_destroy = nullptr; }), "sub_buffer_create"));
  CHECK(contains(refusal(EINVAL, [](auto& t) { t.staging_free = [](void*, void*) {}; }), "staging_allocate"));
  CHECK(looks() == before);
  int64_t count = 0;
  must_fail(ENOTSUP, arrowdevice_device_count, ArrowDeviceType{70}, &count);
}

TEST_CASE("a plugin is loaded only from an existing absolute path") {
  begin();
  must_fail_saying(EINVAL, "absolute_path", arrowdevice_backend_load, nullptr);
  must_fail_saying(EINVAL, "absolute", arrowdevice_backend_load, "libarrowdevice-sim.so");
  must_fail_saying(EINVAL, "absolute", arrowdevice_backend_load, "");
  const int64_t before = looks();
  const char* nowhere = "/nonexistent/libarrowdevice-nowhere.so";
  must_fail_saying(ENOENT, nowhere, arrowdevice_backend_load, nowhere);
  CHECK(looks() == before + 1);
  const auto report = explained(before);
  CHECK(report.status == ENOENT);
  CHECK(std::string(report.path) == nowhere);
  CHECK(std::string(report.name) == "nowhere");
}

TEST_CASE("a report index out of range is refused") {
  begin();
  auto report = sized<arrowdevice_backend_report>();
  must_fail(ENOENT, arrowdevice_backend_get_report, looks(), &report);
  must_fail(ENOENT, arrowdevice_backend_get_report, -1, &report);
  must_fail(EINVAL, arrowdevice_backend_get_report, 0, nullptr);
}

TEST_CASE("deferred_run ends only deferred work whose events have fired") {
  begin();
  Sample first(field("l")), second(field("l"));
  const Queue queue = make_queue(sim(0));
  const Queue other = make_queue(sim(1));
  Held engine(0);
  must(arrowdevice_array_release_after, first.host.get(), queue.get());
  must(arrowdevice_deferred_run, -1, nullptr);
  CHECK(first.ledger.live() > 0);
  must(arrowdevice_array_release_after, second.host.get(), other.get());
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, 1'000'000);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(first.ledger.live() == 0);
  CHECK(second.ledger.live() == 0);
  int64_t done = -1;
  must(arrowdevice_deferred_run, -1, &done);
  CHECK(done == 0);
}

TEST_CASE("deferred_set_manual is refused after work was deferred") {
  begin();
  Sample sample(field("l"));
  const Queue queue = make_queue(sim(0));
  Held engine(0);
  must(arrowdevice_array_release_after, sample.host.get(), queue.get());
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  must_fail(EBUSY, arrowdevice_deferred_set_manual, 1);
  must(arrowdevice_deferred_set_manual, 0);
}

}  // namespace
