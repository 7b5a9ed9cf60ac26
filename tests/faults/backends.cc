// SPDX-License-Identifier: Apache-2.0
// Operations of the library itself: backends, log and deferred work.
#include <cstring>

#include "faults/scene.h"

namespace faults {
namespace {

void check_device_works() {
  arrowdevice_device* there = nullptr;
  must(arrowdevice_device_find_by_id, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, int64_t{0}, &there);
  const Array host = Rows::flat().host();
  check_same(Rows::flat().difference(*copy(*host, *Rows::flat().schema(), there)));
}

// Returns the traits of an operation that makes a backend known.
Operation first(const char* function, Machine machine) {
  return {.function = function, .machine = machine, .injectors = kAllocations, .at_first_use = true};
}

int get_report(arrowdevice_error* error) {
  auto report = sized<arrowdevice_backend_report>();
  const int code = arrowdevice_backend_get_report(1, &report, error);
  check_now(code != 0 || std::strcmp(report.name, "sim") == 0, "another backend is explained");
  return code;
}

// Deferred work whose event has fired. Only the program runs it.
struct Deferred : Scene {
  Deferred() : Scene(Rows::nested(), kHost) {
    must(arrowdevice_deferred_set_manual, 1);
    use_queue(kAddresses[0]);
    queue_pending_work();
    must(arrowdevice_array_release_after, in.get(), queue.get());
    held.reset();
    must(arrowdevice_queue_finish, queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
  }
};

Operation running(const char* function, std::function<int(Deferred&, arrowdevice_error*)> run) {
  return of<Deferred>(
      {.function = function, .allocates = false, .is_final = true, .may_survive = {"event_query"}},
      {.run = std::move(run), .done = [](Deferred&) { check_equal(live_nodes(), 0, "arrays that are not released"); }});
}

}  // namespace

void add_backends(Operations& operations) {
  const Machine with_plugin{.is_registered = false, .has_plugin = true};
  operations.push_back(calling({.function = "version", .allocates = false},
                               [](auto*) { return std::strcmp(arrowdevice_version(), "") != 0 ? 0 : EIO; }));
  operations.push_back(
      calling({.function = "log_set_handler", .injectors = kAllocations, .allocates = false}, [](auto*) {
        arrowdevice_log_set_handler(nullptr, nullptr);
        return 0;
      }));
  operations.push_back(
      calling({.function = "interrupt_set_check", .injectors = kAllocations, .allocates = false}, [](auto*) {
        arrowdevice_interrupt_set_check(nullptr, nullptr);
        return 0;
      }));
  operations.push_back(calling(
      first("backend_register", {.is_registered = false}),
      [](auto* error) { return arrowdevice_backend_register(&backend_table(), error); }, check_device_works));
  auto loading = first("backend_load", with_plugin);
  loading.keeps_blocks = true;  // the report about the plugin
  operations.push_back(calling(
      loading, [](auto* error) { return arrowdevice_backend_load(plugin_file(), error); }, check_device_works));
  // The report has long paths and reasons.
  operations.push_back(of<Nothing>(
      {.function = "backend_get_report", .variant = "of a plugin", .machine = with_plugin, .injectors = kAllocations},
      {.prepare = [](Nothing&) { output_of(arrowdevice_device_count, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}); },
       .run = [](Nothing&, auto* error) { return get_report(error); }}));
  operations.push_back(calling({.function = "deferred_set_manual", .allocates = false},
                               [](auto* error) { return arrowdevice_deferred_set_manual(1, error); }));
  operations.push_back(running("deferred_run", [](Deferred&, auto* error) {
    int64_t done = 0;
    const int code = arrowdevice_deferred_run(-1, &done, error);
    check_now(done == 1, "another number of pieces of work was ended");
    return code;
  }));
  operations.push_back(running(
      "wait_idle", [](Deferred&, auto* error) { return arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, error); }));
}

}  // namespace faults
