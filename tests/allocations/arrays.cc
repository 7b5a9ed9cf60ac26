// SPDX-License-Identifier: Apache-2.0
// Scenarios of array functions that do not copy.
#include "allocations/scene.h"

namespace allocations {
namespace {

namespace control = arrowdevice::sim::control;

using Body = std::function<int(Scene& scene, arrowdevice_error* error)>;

constexpr int64_t kPlaces[] = {-1, kAddresses[0], kHandles[0]};

// Returns a scenario whose output is another owner of the input.
Scenario sharing(const char* function, const Rows& (*rows)(), const char* what, int64_t id, Body body) {
  return {.function = function, .variant = std::string(what) + " on " + kind_of(id), .make = [rows, id, body] {
            const auto scene = std::make_shared<Scene>(rows(), id);
            Attempt attempt;
            attempt.run = [scene, body](auto* error) {
              poison(*scene->out.out());
              return body(*scene, error);
            };
            attempt.check_refused = [scene] { scene->check_refused(); };
            attempt.check_done = [scene] {
              scene->check_input();
              check(!scene->out.released(), "nothing was put out");
              scene->in.reset();  // the other owner keeps the memory alive
              if (scene->out->array.length == scene->rows.length() && scene->schema_out.released()) {
                scene->check_output();
              }
              scene->out.reset();
            };
            return attempt;
          }};
}

void add_sharing(Scenarios& scenarios) {
  for (const int64_t id : kPlaces) {
    scenarios.push_back(sharing("array_share", Rows::nested, "nested", id, [](Scene& scene, auto* error) {
      return arrowdevice_array_share(scene.in.get(), scene.out.get(), error);
    }));
    for (auto* const rows : {Rows::nested, Rows::flat}) {
      const char* const what = rows == Rows::nested ? "nested" : "flat";
      scenarios.push_back(sharing("array_slice", rows, what, id, [](Scene& scene, auto* error) {
        return arrowdevice_array_slice(scene.in.get(), scene.rows.schema(), 3, 5, scene.out.get(), error);
      }));
    }
    scenarios.push_back(sharing("array_select", Rows::nested, "nested", id, [](Scene& scene, auto* error) {
      constexpr int64_t kColumns[] = {3, 0, 3};
      poison(*scene.schema_out.out());
      return arrowdevice_array_select(scene.in.get(), scene.rows.schema(), kColumns, 3, scene.out.get(),
                                      scene.schema_out.get(), error);
    }));
  }
}

// Returns a scenario for a call that leaves the array unchanged.
Scenario asking(const char* function, const char* what, int64_t id, Body body, bool allocates = true) {
  return {.function = function,
          .variant = std::string(what) + kind_of(id),
          .make =
              [id, body] {
                const auto scene = std::make_shared<Scene>(Rows::nested(), id);
                scene->queue = queue_on(device(id));
                Attempt attempt;
                attempt.run = [scene, body](auto* error) { return body(*scene, error); };
                attempt.check_refused = [scene] { scene->check_input(); };
                attempt.check_done = [scene] { scene->check_input(); };
                return attempt;
              },
          .allocates = allocates};
}

int ask_device(Scene& scene, arrowdevice_error* error) {
  auto* found = poisoned_pointer<arrowdevice_device>();
  const int code = arrowdevice_array_get_device(scene.in.get(), &found, error);
  check_now((code == 0) == (found != nullptr), "another device than NULL on failure");
  return code;
}

int ask_ready(Scene& scene, arrowdevice_error* error) {
  int is_ready = -1;
  const int code = arrowdevice_array_is_ready(scene.in.get(), nullptr, &is_ready, error);
  check_now(is_ready == (code == 0 ? 1 : 0), "another answer of whether it is ready");
  return code;
}

void add_asking(Scenarios& scenarios) {
  for (const int64_t id : kPlaces) {
    const bool has_event = id >= 0;
    scenarios.push_back(asking("array_get_device", "", id, ask_device, has_event));
    scenarios.push_back(asking("array_is_ready", "", id, ask_ready, has_event));
    scenarios.push_back(asking(
        "array_wait", "", id,
        [](Scene& scene, auto* error) {
          return arrowdevice_array_wait(scene.in.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
        },
        has_event));
    scenarios.push_back(asking(
        "queue_wait_array", "", id,
        [](Scene& scene, auto* error) {
          return arrowdevice_queue_wait_array(scene.queue.get(), scene.in.get(), nullptr, error);
        },
        has_event));
    scenarios.push_back(asking("array_validate", "strictly, ", id, [](Scene& scene, auto* error) {
      return arrowdevice_array_validate(scene.in.get(), scene.rows.schema(), nullptr, ARROWDEVICE_VALIDATE_STRICT,
                                        error);
    }));
  }
}

// -- transfer of ownership

Scenario exporting(int64_t queue_of, int64_t to, bool allocates) {
  return {.function = "array_export",
          .variant = std::string("on ") + kind_of(to) + (queue_of < 0 ? "" : ", after a queue"),
          .make =
              [queue_of, to] {
                const auto scene = std::make_shared<Scene>(Rows::nested(), to);
                if (queue_of >= 0) scene->queue_pending_work(queue_of);
                scene->held.reset();
                Attempt attempt;
                attempt.run = [scene, at = device(to)](auto* error) {
                  poison(*scene->out.out());
                  return arrowdevice_array_export(at, &scene->in->array, scene->queue.get(), scene->out.get(), error);
                };
                attempt.check_refused = [scene] { scene->check_refused(); };
                attempt.check_done = [scene] {
                  check(scene->in.released(), "the input was not taken over");
                  scene->check_output();
                };
                return attempt;
              },
          .allocates = allocates};
}

struct EventScene {
  control::UserEvent event;
  int released = 0;
  Scene scene{Rows::nested(), kAddresses[0]};
};

Scenario exporting_event() {
  return {.function = "array_export_event", .variant = "on addresses", .make = [] {
            const auto with = std::make_shared<EventScene>();
            with->event.set();
            Attempt attempt;
            attempt.run = [with](auto* error) {
              poison(*with->scene.out.out());
              return arrowdevice_array_export_event(
                  device(kAddresses[0]), &with->scene.in->array, with->event.sync_event(),
                  [](void* user, void*) { ++static_cast<EventScene*>(user)->released; }, with.get(),
                  with->scene.out.get(), error);
            };
            attempt.check_refused = [with] {
              with->scene.check_refused();
              check_equal(with->released, 0, "releases of an event that was not taken over");
            };
            attempt.check_done = [with] {
              check(with->scene.in.released(), "the input was not taken over");
              with->scene.check_output();
              must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
              check_equal(with->released, 1, "releases of the event");
            };
            return attempt;
          }};
}

void add_handing_over(Scenarios& scenarios) {
  scenarios.push_back(exporting(-1, -1, false));
  scenarios.push_back(exporting(-1, kAddresses[0], false));
  scenarios.push_back(exporting(kAddresses[0], kAddresses[0], true));
  scenarios.push_back(exporting(kHandles[0], kHandles[0], true));
  scenarios.push_back(exporting(kAddresses[0], -1, true));
  scenarios.push_back(exporting_event());
  scenarios.push_back({.function = "array_from_host",
                       .variant = "",
                       .make =
                           [] {
                             const auto scene = std::make_shared<Scene>(Rows::nested(), -1);
                             Attempt attempt;
                             attempt.run = [scene](auto* error) {
                               poison(*scene->out.out());
                               return arrowdevice_array_from_host(&scene->in->array, scene->out.get(), error);
                             };
                             attempt.check_done = [scene] { scene->check_output(); };
                             return attempt;
                           },
                       .allocates = false});
}

// -- release

// Returns a scenario that releases memory of a pool. The memory goes back to the pool, which records it.
// That allocates.
Scenario releasing(const char* function, const char* variant, int64_t id, std::function<void(Scene&)> prepare,
                   std::function<void(Scene&)> end, bool allocates) {
  return {.function = function,
          .variant = variant,
          .make =
              [id, prepare, end] {
                const auto scene = std::make_shared<Scene>(Rows::nested(), id);
                prepare(*scene);
                Attempt attempt;
                attempt.run = [scene, end](auto*) {
                  end(*scene);
                  return 0;
                };
                attempt.check_done = [scene] {
                  check(scene->in.released() && scene->out.released() && scene->host_out.released(),
                        "an array was not released");
                };
                return attempt;
              },
          .allocates = allocates,
          .has_threads = true};
}

void release_both(Scene& scene) {
  arrowdevice_array_release(scene.in.get());
  arrowdevice_array_release(scene.out.get());
}

void add_releasing(Scenarios& scenarios) {
  const auto share = [](Scene& scene) { must(arrowdevice_array_share, scene.in.get(), scene.out.out()); };
  scenarios.push_back(releasing("array_release", "of the CPU, shared", -1, share, release_both, false));
  scenarios.push_back(releasing("array_release", "of handles, shared", kHandles[0], share, release_both, true));
  scenarios.push_back(releasing(
      "array_release", "of the CPU, a copy", -1,
      [](Scene& scene) { scene.out = copy(*scene.in, *scene.rows.schema(), cpu()); }, release_both, true));
  scenarios.push_back(releasing(
      "array_release", "of a pending copy", -1,
      [](Scene& scene) {
        scene.held.emplace(kAddresses[0]);
        scene.out = copy(*scene.in, *scene.rows.schema(), sim(kAddresses[0]), ARROWDEVICE_COPY_ASYNC);
      },
      release_both, false));
  scenarios.push_back(releasing(
      "host_array_release", "of handles", kHandles[0],
      [](Scene& scene) {
        must(arrowdevice_array_to_host, scene.in.get(), scene.rows.schema(), nullptr, scene.host_out.out());
      },
      [](Scene& scene) { arrowdevice_host_array_release(scene.host_out.get()); }, true));
  scenarios.push_back(releasing(
      "array_move", "", -1, [](Scene&) {},
      [](Scene& scene) {
        arrowdevice_array_move(scene.in.get(), scene.out.get());
        arrowdevice_array_release(scene.out.get());
      },
      false));
  for (const bool is_pending : {false, true}) {
    for (const int64_t id : kPlaces) {
      scenarios.push_back({.function = "array_release_after",
                           .variant = std::string("of ") + kind_of(id) + (is_pending ? ", pending work" : ""),
                           .make =
                               [id, is_pending] {
                                 const auto scene = std::make_shared<Scene>(Rows::nested(), id);
                                 if (is_pending) scene->queue_pending_work(std::max(id, kAddresses[0]));
                                 if (!is_pending) scene->queue = queue_on(device(id));
                                 Attempt attempt;
                                 attempt.run = [scene](auto* error) {
                                   return arrowdevice_array_release_after(scene->in.get(), scene->queue.get(), error);
                                 };
                                 attempt.check_refused = [scene] { scene->check_input(); };
                                 attempt.check_done = [scene] {
                                   check(scene->in.released(), "the input was not taken over");
                                 };
                                 return attempt;
                               },
                           .has_threads = is_pending});
    }
  }
}

// -- schemas

void add_schemas(Scenarios& scenarios) {
  scenarios.push_back({.function = "schema_copy", .variant = "nested", .make = [] {
                         const auto out = std::make_shared<Schema>();
                         Attempt attempt;
                         attempt.run = [out](auto* error) {
                           poison(*out->out());
                           return arrowdevice_schema_copy(Rows::nested().schema(), out->get(), error);
                         };
                         attempt.check_refused = [out] { check(out->released(), "a schema was put out"); };
                         attempt.check_done = [out] {
                           const Array host = Rows::nested().host();
                           must(arrowdevice_array_validate, host.get(), out->get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
                         };
                         return attempt;
                       }});
  scenarios.push_back({.function = "schema_release",
                       .variant = "nested",
                       .make =
                           [] {
                             const auto out = std::make_shared<Schema>();
                             must(arrowdevice_schema_copy, Rows::nested().schema(), out->out());
                             Attempt attempt;
                             attempt.run = [out](auto*) {
                               arrowdevice_schema_release(out->get());
                               return 0;
                             };
                             attempt.check_done = [out] { check(out->released(), "the schema was not released"); };
                             return attempt;
                           },
                       .allocates = false});
}

}  // namespace

void add_arrays(Scenarios& scenarios) {
  add_sharing(scenarios);
  add_asking(scenarios);
  add_handing_over(scenarios);
  add_releasing(scenarios);
  add_schemas(scenarios);
}

}  // namespace allocations
