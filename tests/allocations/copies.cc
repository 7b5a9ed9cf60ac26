// SPDX-License-Identifier: Apache-2.0
// Scenarios of array_copy, array_to_device and array_to_host.
#include "allocations/scene.h"

namespace allocations {
namespace {

using arrowdevice::sim::Peers;

struct Way {
  int64_t from, to;
  uint32_t flags = 0;
  const Rows& (*rows)() = Rows::nested;
  Machine machine = {};
  const char* how = "";

  std::string text() const { return std::string(kind_of(from)) + " to " + kind_of(to) + how; }
};

// Returns all paths that bytes take.
std::vector<Way> all_ways() {
  constexpr int64_t kHost = -1;
  const Machine unreachable{.peers = Peers::kNone};
  const Machine sharing{.peers = Peers::kAccess};
  const Machine pinned{.has_pinned = true};
  return {
      {kHost, kHost, ARROWDEVICE_COPY_ALWAYS},
      {kHost, kAddresses[0]},
      {kHost, kHandles[0]},
      {kHost, kHandles[0], ARROWDEVICE_COPY_ASYNC, Rows::nested, {}, ", async"},
      {kAddresses[0], kHost},
      {kHandles[0], kHost},
      {kAddresses[0], kHandles[0]},
      {kHandles[0], kAddresses[0], ARROWDEVICE_COPY_ASYNC, Rows::nested, {}, ", async"},
      {kAddresses[0], kAddresses[1], 0, Rows::nested, sharing, ", shared"},
      {kAddresses[0], kHandles[0], 0, Rows::nested, unreachable, ", staged"},
      {kHandles[0], kAddresses[0], ARROWDEVICE_COPY_NO_TRIM, Rows::flat, unreachable, ", staged"},
      {kHost, kAddresses[0], 0, Rows::large, pinned, ", through pinned memory"},
      {kAddresses[0], kHost, 0, Rows::large, pinned, ", through pinned memory"},
  };
}

Scenario scenario_of(const char* function, const Way& way, std::function<Attempt()> make) {
  return {.function = function,
          .variant = way.text(),
          .make = std::move(make),
          .machine = way.machine,
          .has_threads = way.machine.has_pinned};
}

Scenario copying(const Way& way) {
  return scenario_of("array_copy", way, [way] {
    const auto scene = std::make_shared<Scene>(way.rows(), way.from);
    const auto options = copy_options(way.flags & ~uint32_t{ARROWDEVICE_COPY_ALWAYS});
    Attempt attempt;
    attempt.run = [scene, options, to = device(way.to)](auto* error) {
      poison(*scene->out.out());
      return arrowdevice_array_copy(scene->in.get(), scene->rows.schema(), to, &options, scene->out.get(), error);
    };
    attempt.check_refused = [scene] { scene->check_refused(); };
    attempt.check_done = [scene] {
      scene->check_input();
      scene->check_output();
    };
    return attempt;
  });
}

Scenario moving(const Way& way) {
  return scenario_of("array_to_device", way, [way] {
    const auto scene = std::make_shared<Scene>(way.rows(), way.from);
    const auto options = copy_options(way.flags);
    Attempt attempt;
    attempt.run = [scene, options, to = device(way.to)](auto* error) {
      poison(*scene->out.out());
      return arrowdevice_array_to_device(scene->in.get(), scene->rows.schema(), to, &options, scene->out.get(), error);
    };
    attempt.check_refused = [scene] { scene->check_refused(); };
    attempt.check_done = [scene] {
      check(scene->in.released(), "the input was not taken over");
      scene->check_output();
    };
    return attempt;
  });
}

Scenario moving_to_host(const Way& way) {
  return scenario_of("array_to_host", way, [way] {
    const auto scene = std::make_shared<Scene>(way.rows(), way.from);
    const auto options = copy_options(way.flags);
    Attempt attempt;
    attempt.run = [scene, options](auto* error) {
      poison(*scene->host_out.out());
      return arrowdevice_array_to_host(scene->in.get(), scene->rows.schema(), &options, scene->host_out.get(), error);
    };
    attempt.check_refused = [scene] { scene->check_refused(); };
    attempt.check_done = [scene] {
      check(scene->in.released(), "the input was not taken over");
      must(arrowdevice_array_from_host, scene->host_out.get(), scene->out.out());
      scene->check_output();
    };
    return attempt;
  });
}

}  // namespace

void add_copies(Scenarios& scenarios) {
  for (const Way& way : all_ways()) {
    scenarios.push_back(copying(way));
    if (way.rows == Rows::large) continue;  // takes long and uses the same path
    scenarios.push_back(moving(way));
    if (way.to < 0) scenarios.push_back(moving_to_host(way));
  }
}

}  // namespace allocations
