// SPDX-License-Identifier: Apache-2.0
// Operations of array functions that neither copy nor export.
#include <poll.h>
#include <unistd.h>

#include "faults/scene.h"

namespace faults {
namespace {

using Body = std::function<int(Scene& scene, arrowdevice_error* error)>;

// Returns an operation whose output is another owner of the input.
Operation sharing(const char* function, const Rows& (*rows)(), int64_t id, Body body) {
  const char* const what = rows == Rows::nested  ? "nested on "
                           : rows == Rows::flat  ? "flat on "
                           : rows == Rows::whole ? "nested and whole on "
                                                 : "flat and whole on ";
  return of<Scene>({.function = function, .variant = std::string(what) + kind_of(id)},
                   {.make = [rows, id] { return std::make_shared<Scene>(rows(), id); },
                    .run =
                        [body](Scene& scene, auto* error) {
                          poison(*scene.out.out());
                          return body(scene, error);
                        },
                    .done =
                        [](Scene& scene) {
                          scene.check_input();
                          check(!scene.out.released(), "nothing was put out");
                          scene.in.reset();  // the other owner keeps the memory alive
                          const bool is_same = scene.out->array.length == scene.rows.length();
                          if (is_same && scene.schema_out.released()) scene.check_output();
                          scene.out.reset();
                        }});
}

int share(Scene& scene, arrowdevice_error* error) {
  return arrowdevice_array_share(scene.in.get(), scene.out.get(), error);
}
int slice(Scene& scene, arrowdevice_error* error) {
  return arrowdevice_array_slice(scene.in.get(), scene.rows.schema(), 3, 5, scene.out.get(), error);
}
int select(Scene& scene, arrowdevice_error* error) {
  constexpr int64_t kColumns[] = {3, 0, 3};
  poison(*scene.schema_out.out());
  return arrowdevice_array_select(scene.in.get(), scene.rows.schema(), kColumns, 3, scene.out.get(),
                                  scene.schema_out.get(), error);
}

void add_sharing(Operations& operations, int64_t id) {
  for (auto* const rows : {Rows::nested, Rows::whole}) {
    operations.push_back(sharing("array_share", rows, id, share));
    operations.push_back(sharing("array_select", rows, id, select));
  }
  for (auto* const rows : {Rows::nested, Rows::flat, Rows::whole, Rows::whole_flat}) {
    operations.push_back(sharing("array_slice", rows, id, slice));
  }
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
  check_now(is_ready == (code == 0 ? 1 : 0) || scene.is_pending, "another answer of whether it is ready");
  return code;
}

int open_eventfd(Scene& scene, arrowdevice_error* error) {
  int descriptor = 0;
  const int code = arrowdevice_array_open_eventfd(scene.in.get(), nullptr, &descriptor, error);
  check_now((code == 0) == (descriptor >= 0), "another descriptor than -1 on failure");
  if (code != 0) return code;
  const int waited = arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, error);
  pollfd entry{descriptor, POLLIN, 0};
  check_now(waited != 0 || poll(&entry, 1, 0) == 1, "the descriptor is not readable when no work is left");
  close(descriptor);
  return waited;
}

int wait(Scene& scene, arrowdevice_error* error) {
  return arrowdevice_array_wait(scene.in.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
}

int wait_by_queue(Scene& scene, arrowdevice_error* error) {
  const int code = arrowdevice_queue_wait_array(scene.queue.get(), scene.in.get(), nullptr, error);
  return code != 0 || !scene.is_pending ? code
                                        : arrowdevice_queue_finish(scene.queue.get(), ARROWDEVICE_NO_TIMEOUT, error);
}

int validate(Scene& scene, arrowdevice_error* error) {
  return arrowdevice_array_validate(scene.in.get(), scene.rows.schema(), nullptr, ARROWDEVICE_VALIDATE_STRICT, error);
}

// Returns an operation that leaves the array unchanged. A pending array is copied to the device meanwhile.
Operation asking(const char* function, int64_t id, int (*body)(Scene&, arrowdevice_error*), bool allocates = true,
                 bool is_pending = false) {
  return of<Scene>({.function = function,
                    .variant = std::string(is_pending ? "pending, on " : "on ") + kind_of(id),
                    .machine = {.latency_us = is_pending ? 50 : 0},
                    .allocates = allocates,
                    .is_final = is_pending,
                    // The descriptor becomes readable also if the event has failed.
                    .may_survive = body == open_eventfd ? std::vector<std::string>{"event_query", "event_wait"}
                                                        : std::vector<std::string>{}},
                   {.make =
                        [id, is_pending] {
                          const auto scene = std::make_shared<Scene>(Rows::nested(), is_pending ? kHost : id);
                          scene->queue = make_queue(device(id));
                          scene->is_pending = is_pending;
                          return scene;
                        },
                    .prepare =
                        [id](Scene& scene) {
                          if (!scene.is_pending) return;
                          scene.in = copy(*scene.in, *scene.rows.schema(), device(id), ARROWDEVICE_COPY_ASYNC);
                        },
                    .run = body,
                    .refused = [](Scene& scene) { scene.check_input(); },
                    .done =
                        [waits = body != ask_ready && body != open_eventfd](Scene& scene) {
                          if (waits) scene.is_pending = false;  // the data is complete
                          scene.check_input();
                        }});
}

void add_asking(Operations& operations, int64_t id) {
  const bool has_event = id >= 0;
  operations.push_back(asking("array_get_device", id, ask_device, has_event));
  operations.push_back(asking("array_is_ready", id, ask_ready, has_event));
  operations.push_back(asking("array_open_eventfd", id, open_eventfd));
  operations.push_back(asking("array_wait", id, wait, has_event));
  operations.push_back(asking("queue_wait_array", id, wait_by_queue, has_event));
  operations.push_back(asking("array_validate", id, validate));
  if (!has_event) return;
  operations.push_back(asking("array_is_ready", id, ask_ready, true, true));
  operations.push_back(asking("array_open_eventfd", id, open_eventfd, true, true));
  operations.push_back(asking("array_wait", id, wait, true, true));
  operations.push_back(asking("queue_wait_array", id, wait_by_queue, true, true));
}

// -- release

// Returns an operation that releases memory of a pool. The memory goes back to the pool, which has the record of it
// from the last allocation.
Operation releasing(Operation operation, int64_t id, std::function<void(Scene&)> begin,
                    std::function<void(Scene&)> end) {
  operation.has_threads = true;
  operation.is_final = true;
  return of<Scene>(std::move(operation),
                   {.make = [id] { return std::make_shared<Scene>(Rows::nested(), id); },
                    .prepare = std::move(begin),
                    .run =
                        [end](Scene& scene, auto*) {
                          end(scene);
                          return 0;
                        },
                    .done =
                        [](Scene& scene) {
                          check(scene.in.released() && scene.out.released() && scene.host_out.released(),
                                "an array was not released");
                        }});
}

void release_both(Scene& scene) {
  arrowdevice_array_release(scene.in.get());
  arrowdevice_array_release(scene.out.get());
}

void add_releasing(Operations& operations) {
  const auto share_it = [](Scene& scene) { must(arrowdevice_array_share, scene.in.get(), scene.out.out()); };
  operations.push_back(releasing({.function = "array_release", .variant = "of the CPU, shared", .allocates = false},
                                 kHost, share_it, release_both));
  operations.push_back(releasing({.function = "array_release", .variant = "of handles, shared", .allocates = false},
                                 kHandles[0], share_it, release_both));
  operations.push_back(releasing(
      {.function = "array_release", .variant = "of the CPU, a copy", .allocates = false}, kHost,
      [](Scene& scene) { scene.out = copy(*scene.in, *scene.rows.schema(), cpu()); }, release_both));
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    operations.push_back(releasing(
        {.function = "array_release",
         .variant = std::string("of a pending copy to ") + kind_of(id),
         .allocates = false,
         .may_survive = {"event_query", "event_wait"}},
        kHost,
        [id](Scene& scene) {
          scene.held.emplace(id);
          scene.out = copy(*scene.in, *scene.rows.schema(), sim(id), ARROWDEVICE_COPY_ASYNC);
        },
        release_both));
  }
  operations.push_back(releasing(
      {.function = "host_array_release", .variant = "of handles", .allocates = false}, kHandles[0],
      [](Scene& scene) {
        must(arrowdevice_array_to_host, scene.in.get(), scene.rows.schema(), nullptr, scene.host_out.out());
      },
      [](Scene& scene) { arrowdevice_host_array_release(scene.host_out.get()); }));
  operations.push_back(releasing(
      {.function = "array_move", .allocates = false}, kHost, [](Scene&) {},
      [](Scene& scene) {
        arrowdevice_array_move(scene.in.get(), scene.out.get());
        arrowdevice_array_release(scene.out.get());
      }));
}

Operation releasing_after(int64_t id, int64_t queue_of, bool is_pending) {
  return of<Scene>(
      {.function = "array_release_after",
       .variant = std::string("of ") + kind_of(id) + ", by a queue of " + kind_of(queue_of) +
                  (is_pending ? ", pending work" : ""),
       .has_threads = is_pending,
       .may_survive = {"event_query"}},
      {.make =
           [id, queue_of] {
             const auto scene = std::make_shared<Scene>(Rows::nested(), id);
             scene->use_queue(queue_of);
             return scene;
           },
       .prepare =
           [is_pending](Scene& scene) {
             if (is_pending) scene.queue_pending_work();
           },
       .run = [](Scene& scene,
                 auto* error) { return arrowdevice_array_release_after(scene.in.get(), scene.queue.get(), error); },
       .done = [](Scene& scene) { scene.check_taken(); }});
}

// Returns an operation that releases an array after a pending copy, and waits for all deferred work.
Operation releasing_and_waiting(int64_t id) {
  return releasing(
      {.function = "wait_idle", .variant = std::string("for a pending copy to ") + kind_of(id), .injectors = kLosses},
      kHost,
      [id](Scene& scene) {
        scene.held.emplace(id);
        scene.out = copy(*scene.in, *scene.rows.schema(), sim(id), ARROWDEVICE_COPY_ASYNC);
      },
      [](Scene& scene) {
        release_both(scene);
        scene.held.reset();
        must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
      });
}

// -- schemas

void add_schemas(Operations& operations) {
  operations.push_back(of<Schema>({.function = "schema_copy", .variant = "nested"},
                                  {.run =
                                       [](Schema& out, auto* error) {
                                         poison(*out.out());
                                         return arrowdevice_schema_copy(Rows::nested().schema(), out.get(), error);
                                       },
                                   .refused = [](Schema& out) { check(out.released(), "a schema was put out"); },
                                   .done =
                                       [](Schema& out) {
                                         const Array host = Rows::nested().host();
                                         must(arrowdevice_array_validate, host.get(), out.get(), nullptr,
                                              ARROWDEVICE_VALIDATE_FULL);
                                       }}));
  operations.push_back(of<Schema>({.function = "schema_release", .variant = "nested", .allocates = false},
                                  {.prepare =
                                       [](Schema& out) {
                                         const ArrowSchema* const schema = Rows::nested().schema();
                                         must(arrowdevice_schema_copy, schema, out.out());
                                       },
                                   .run =
                                       [](Schema& out, auto*) {
                                         arrowdevice_schema_release(out.get());
                                         return 0;
                                       },
                                   .done = [](Schema& out) { check(out.released(), "the schema was not released"); }}));
}

}  // namespace

void add_arrays(Operations& operations) {
  for (const int64_t id : kPlaces) {
    add_sharing(operations, id);
    add_asking(operations, id);
  }
  add_releasing(operations);
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    operations.push_back(releasing_and_waiting(id));
    for (const int64_t of_array : {kHost, id}) {
      for (const bool is_pending : {false, true}) operations.push_back(releasing_after(of_array, id, is_pending));
    }
  }
  operations.push_back(releasing_after(kHost, kHost, false));
  add_schemas(operations);
}

}  // namespace faults
