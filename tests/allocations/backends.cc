// SPDX-License-Identifier: Apache-2.0
// Scenarios of the library itself: backends, log and deferred work.
#include <cstring>

#include "allocations/scene.h"

namespace allocations {
namespace {

void check_device_works() {
  arrowdevice_device* there = nullptr;
  must(arrowdevice_device_find_by_id, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, int64_t{0}, &there);
  const Array host = Rows::flat().host();
  check_same(Rows::flat().difference(*copy(*host, *Rows::flat().schema(), there)));
}

Scenario registering() {
  auto scenario = calling(
      "backend_register", "", true, [](auto* error) { return arrowdevice_backend_register(&backend_table(), error); },
      {.is_registered = false}, check_device_works);
  scenario.only_first = true;
  return scenario;
}

Scenario loading() {
  auto scenario = calling(
      "backend_load", "", true, [](auto* error) { return arrowdevice_backend_load(plugin_file(), error); },
      {.is_registered = false, .has_plugin = true}, check_device_works);
  scenario.only_first = true;
  scenario.keeps_blocks = true;  // the report about the plugin
  return scenario;
}

// Returns a scenario that reads the report of a plugin, with long paths and reasons.
Scenario explaining() {
  auto scenario = calling("backend_get_report", "of a plugin", true, [](auto* error) {
    arrowdevice_backend_report report{};
    report.struct_size = sizeof report;
    const int code = arrowdevice_backend_get_report(1, &report, error);
    check_now(code != 0 || std::strcmp(report.name, "sim") == 0, "another backend is explained");
    return code;
  });
  scenario.machine = {.is_registered = false, .has_plugin = true};
  scenario.make = [make = scenario.make] {
    int64_t n = 0;
    must(arrowdevice_device_count, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, &n);
    return make();
  };
  return scenario;
}

// Returns a scenario with deferred work whose event has fired. Only the program runs it.
Scenario reaping() {
  return {.function = "deferred_run",
          .variant = "",
          .make =
              [] {
                must(arrowdevice_deferred_set_manual, 1);
                const auto scene = std::make_shared<Scene>(Rows::nested(), -1);
                scene->queue_pending_work(kAddresses[0]);
                must(arrowdevice_array_release_after, scene->in.get(), scene->queue.get());
                scene->held.reset();
                must(arrowdevice_queue_finish, scene->queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
                Attempt attempt;
                attempt.run = [scene](auto* error) {
                  int64_t done = 0;
                  const int code = arrowdevice_deferred_run(-1, &done, error);
                  check_now(done == 1, "another number of pieces of work was ended");
                  return code;
                };
                attempt.check_done = [] { check_equal(live_nodes(), 0, "arrays that are not released"); };
                return attempt;
              },
          .allocates = false};
}

Scenario quiescing() {
  auto scenario = reaping();
  scenario.function = "wait_idle";
  scenario.make = [make = scenario.make] {
    Attempt attempt = make();
    attempt.run = [keeps = attempt.run](auto* error) { return arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, error); };
    return attempt;
  };
  return scenario;
}

}  // namespace

void add_backends(Scenarios& scenarios) {
  scenarios.push_back(
      calling("version", "", false, [](auto*) { return std::strcmp(arrowdevice_version(), "") != 0 ? 0 : EIO; }));
  scenarios.push_back(calling("log_set_handler", "", false, [](auto*) {
    arrowdevice_log_set_handler(nullptr, nullptr);
    return 0;
  }));
  scenarios.push_back(registering());
  scenarios.push_back(loading());
  scenarios.push_back(explaining());
  scenarios.push_back(
      calling("deferred_set_manual", "", false, [](auto* error) { return arrowdevice_deferred_set_manual(1, error); }));
  scenarios.push_back(reaping());
  scenarios.push_back(quiescing());
}

}  // namespace allocations
