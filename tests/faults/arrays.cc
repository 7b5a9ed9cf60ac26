// SPDX-License-Identifier: Apache-2.0
// Each backend call of the array functions that do not copy fails in turn; see trial.h.
#include <array>

#include "faults/trial.h"

namespace {

using namespace faults;  // NOLINT: what every line of these tests is written with

const char* kind_of(int64_t id) { return id < 0 ? "on the host" : id < kHandles[0] ? "on addresses" : "on handles"; }
arrowdevice_device* device(int64_t id) { return id < 0 ? cpu() : sim(id); }

// An array, a queue, and the outputs of the call.
struct Scene {
  Scene(const Rows& of, int64_t id, const Ledger& ledger) : rows(of), in(of.on(device(id), ledger)) {
    if (id >= 0) queue = make_queue(sim(id));
  }

  const Rows& rows;
  Array in;
  Queue queue;
  View view;
  Array out;
  Owned<ArrowSchema> out_schema;
  std::vector<int64_t> host_memory;

  // Submits work to the queue, so that events come after it.
  void queue_work(arrowdevice_device* on, void* buffer) {
    host_memory.assign(64, 7);
    arrowdevice_copy_region region{};
    region.dst_device = on;
    region.dst = buffer;
    region.src = host_memory.data();
    region.size = 8;
    must(arrowdevice_queue_copy, queue.get(), &region, 1);
  }

  void check_input() {
    REQUIRE_FALSE(in.released());
    CHECK(rows.difference(*in) == "");
  }
  void check_refused() {
    CHECK(out.released());
    CHECK(view == nullptr);
    check_input();
  }
  void check_output(bool spoiled) {
    REQUIRE_FALSE(out.released());
    if (!spoiled) CHECK(rows.difference(*out) == "");
    out.reset();
  }
};

// Returns an operation that leaves its input unchanged and makes another owner of it.
template <typename Call>
Operation sharing(const char* name, const Rows& rows, const char* what, int64_t id, Call call) {
  return {.name = name, .variant = std::string(what) + " " + kind_of(id), .make = [&rows, id, call] {
            Trial trial;
            const auto scene = std::make_shared<Scene>(rows, id, trial.ledger);
            trial.run = [scene, call](auto* error) {
              poison(*scene->out.out());
              return call(*scene, error);
            };
            trial.check_refused = [scene] { scene->check_refused(); };
            trial.check_done = [scene](bool) {
              scene->check_input();
              REQUIRE_FALSE(scene->out.released());
              scene->in.reset();  // the other owner keeps the memory alive
              if (scene->out->array.length == scene->rows.length() && scene->out_schema.released()) {
                CHECK(scene->rows.difference(*scene->out) == "");
              }
              scene->out.reset();
            };
            return trial;
          }};
}

TEST_CASE("sharing, slicing and selecting call no backend, or survive its failure", "[faults]") {
  for (const int64_t id : {int64_t{-1}, kAddresses[0], kHandles[0]}) {
    exercise(sharing("array_share", Rows::nested(), "nested", id, [](Scene& scene, arrowdevice_error* error) {
      return arrowdevice_array_share(scene.in.get(), scene.out.get(), error);
    }));
    exercise(sharing("array_slice", Rows::nested(), "nested", id, [](Scene& scene, arrowdevice_error* error) {
      return arrowdevice_array_slice(scene.in.get(), &scene.rows.schema(), 3, 5, scene.out.get(), error);
    }));
    exercise(sharing("array_slice", Rows::flat(), "flat", id, [](Scene& scene, arrowdevice_error* error) {
      return arrowdevice_array_slice(scene.in.get(), &scene.rows.schema(), 3, 5, scene.out.get(), error);
    }));
    exercise(sharing("array_select", Rows::nested(), "nested", id, [](Scene& scene, arrowdevice_error* error) {
      constexpr int64_t kColumns[] = {3, 0, 3};
      return arrowdevice_array_select(scene.in.get(), &scene.rows.schema(), kColumns, 3, scene.out.get(),
                                      scene.out_schema.out(), error);
    }));
  }
}

struct Import {
  const char* text;
  uint32_t flags;
  bool has_queue;
};

constexpr Import kPlain{"", 0, false};
constexpr Import kWithQueue{", for a queue", 0, true};
constexpr Import kSizes{", with sizes", ARROWDEVICE_IMPORT_RESOLVE_SIZES, false};
constexpr Import kSizesForQueue{", with sizes, for a queue", ARROWDEVICE_IMPORT_RESOLVE_SIZES, true};

int import(Scene& scene, const Import& how, arrowdevice_error* error) {
  auto options = import_options();
  options.flags = how.flags;
  options.queue = how.has_queue ? scene.queue.get() : nullptr;
  auto* view = reinterpret_cast<arrowdevice_view*>(&options);  // the call must set this to NULL
  const int code = arrowdevice_array_import(scene.in.get(), &scene.rows.schema(), &options, &view, error);
  scene.view.reset(view);
  return code;
}

Operation importing(const Rows& rows, const char* what, int64_t id, const Import& how) {
  return {
      .name = "array_import", .variant = std::string(what) + " " + kind_of(id) + how.text, .make = [&rows, id, how] {
        Trial trial;
        const auto scene = std::make_shared<Scene>(rows, id, trial.ledger);
        trial.run = [scene, how](auto* error) { return import(*scene, how, error); };
        trial.settle = [scene, how](auto* error) {
          return how.has_queue ? arrowdevice_queue_finish(scene->queue.get(), ARROWDEVICE_NO_TIMEOUT, error) : 0;
        };
        trial.check_refused = [scene] { scene->check_refused(); };
        trial.check_done = [scene, how](bool) {
          CHECK(scene->in.released());
          REQUIRE(scene->view != nullptr);
          if (how.flags != 0) CHECK(knows_all_sizes(*arrowdevice_view_get_root(scene->view.get())));
          CHECK(scene->rows.difference(*arrowdevice_view_get_array(scene->view.get())) == "");
        };
        return trial;
      }};
}

TEST_CASE("taking over an array survives the failure of any backend call", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    for (const Import& how : {kPlain, kWithQueue, kSizes, kSizesForQueue}) {
      exercise(importing(Rows::nested(), "nested", id, how));
    }
    exercise(importing(Rows::flat(), "flat", id, kSizes));
  }
  exercise(importing(Rows::nested(), "nested", -1, kSizes));
  for (const char* function : {"event_import", "queue_wait_event", "event_wait", "queue_copy", "event_record",
                               "queue_create", "pointer_get_info", "event", "lost", "device_locate"}) {
    INFO(function);
    CHECK(was_reached("array_import", function));
  }
}

Operation with_view(const char* name, int64_t id, Trial (*finish)(Trial, std::shared_ptr<Scene>)) {
  return {.name = name,
          .variant = kind_of(id),
          .make =
              [id, finish] {
                Trial trial;
                const auto scene = std::make_shared<Scene>(Rows::nested(), id, trial.ledger);
                arrowdevice_error error{};
                REQUIRE(import(*scene, kPlain, &error) == 0);
                return finish(std::move(trial), scene);
              },
          .may_survive = {"event_query"}};
}

TEST_CASE("sharing a view calls no backend, or survives its failure", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(with_view("view_share", id, [](Trial trial, std::shared_ptr<Scene> scene) {
      trial.run = [scene](auto* error) {
        poison(*scene->out.out());
        return arrowdevice_view_share(scene->view.get(), scene->out.get(), error);
      };
      trial.check_refused = [scene] {
        CHECK(scene->out.released());
        CHECK(scene->rows.difference(*arrowdevice_view_get_array(scene->view.get())) == "");
      };
      trial.check_done = [scene](bool spoiled) {
        scene->view.reset();
        scene->check_output(spoiled);
      };
      return trial;
    }));
  }
}

TEST_CASE("releasing after a queue survives the failure of any backend call", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(with_view("view_release_after", id, [](Trial trial, std::shared_ptr<Scene> scene) {
      trial.run = [scene](auto* error) {
        const int code = arrowdevice_view_release_after(scene->view.get(), scene->queue.get(), error);
        if (code == 0) static_cast<void>(scene->view.release());
        return code;
      };
      trial.check_refused = [scene] {
        REQUIRE(scene->view != nullptr);
        CHECK(scene->rows.difference(*arrowdevice_view_get_array(scene->view.get())) == "");
      };
      return trial;
    }));
    for (const bool of_host : {false, true}) {
      exercise({.name = "array_release_after",
                .variant = std::string(of_host ? "on the host" : kind_of(id)) + ", by a queue " + kind_of(id),
                .make =
                    [id, of_host] {
                      Trial trial;
                      const auto scene = std::make_shared<Scene>(Rows::nested(), id, trial.ledger);
                      if (of_host) scene->in = Rows::nested().on(cpu(), trial.ledger);
                      trial.run = [scene](auto* error) {
                        return arrowdevice_array_release_after(scene->in.get(), scene->queue.get(), error);
                      };
                      trial.check_refused = [scene] { scene->check_input(); };
                      trial.check_done = [scene](bool) { CHECK(scene->in.released()); };
                      return trial;
                    },
                .may_survive = {"event_query"}});
    }
  }
  for (const char* function : {"event_record", "event", "lost", "event_query"}) {
    INFO(function);
    CHECK(was_reached("array_release_after", function));
    CHECK(was_reached("view_release_after", function));
  }
}

// Returns an operation that exports an array whose buffer the queue writes.
Operation exporting(int64_t id, bool publishes) {
  return {.name = "array_export",
          .variant = std::string(kind_of(id)) + (publishes ? ", with a queue" : ", for the host, with a queue"),
          .make = [id, publishes] {
            Trial trial;
            const auto scene = std::make_shared<Scene>(Rows::flat(), id, trial.ledger);
            // The host has no events to publish, so the call waits for the queue.
            if (!publishes) scene->in = Rows::flat().on(cpu(), trial.ledger);
            const auto target = make_pool(sim(id));
            void* written = nullptr;
            must(arrowdevice_buffer_allocate, sim(id), target.get(), nullptr, 64, &written);
            const auto buffer = std::shared_ptr<void>(
                written, [id](void* memory) { arrowdevice_buffer_free(sim(id), nullptr, memory); });
            trial.prepare = [scene, buffer, id] { scene->queue_work(sim(id), buffer.get()); };
            trial.run = [scene, id, publishes](auto* error) {
              poison(*scene->out.out());
              return arrowdevice_array_export(publishes ? sim(id) : cpu(), &scene->in->array, scene->queue.get(),
                                              scene->out.get(), error);
            };
            trial.settle = [scene](auto* error) {
              const int code = arrowdevice_array_wait(scene->out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
              arrowdevice_queue_finish(scene->queue.get(), ARROWDEVICE_NO_TIMEOUT, nullptr);
              return code;
            };
            trial.check_refused = [scene] {
              arrowdevice_queue_finish(scene->queue.get(), ARROWDEVICE_NO_TIMEOUT, nullptr);
              scene->check_refused();
            };
            trial.check_done = [scene, publishes](bool spoiled) {
              CHECK(scene->in->array.release == nullptr);
              CHECK((scene->out->sync_event != nullptr) == publishes);
              scene->check_output(spoiled);
            };
            return trial;
          }};
}

TEST_CASE("exporting an array with a queue's event survives a failure of any backend call", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(exporting(id, true));
    exercise(exporting(id, false));
  }
  for (const char* function : {"event_record", "event_publish", "event_wait", "event", "lost"}) {
    INFO(function);
    CHECK(was_reached("array_export", function));
  }
}

// Returns an operation that only reads the array's event or device.
template <typename Call>
Operation asking(const char* name, int64_t id, Call call) {
  return {.name = name, .variant = kind_of(id), .make = [id, call] {
            Trial trial;
            const auto scene = std::make_shared<Scene>(Rows::flat(), id, trial.ledger);
            trial.run = [scene, call](auto* error) { return call(*scene, error); };
            trial.settle = [scene](auto* error) {
              return arrowdevice_queue_finish(scene->queue.get(), ARROWDEVICE_NO_TIMEOUT, error);
            };
            trial.check_refused = [scene] { scene->check_input(); };
            trial.check_done = [scene](bool) { scene->check_input(); };
            return trial;
          }};
}

TEST_CASE("asking for an array's event or device survives the failure of any backend call", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(asking("array_wait", id, [](Scene& scene, arrowdevice_error* error) {
      return arrowdevice_array_wait(scene.in.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
    }));
    exercise(asking("queue_wait_array", id, [](Scene& scene, arrowdevice_error* error) {
      return arrowdevice_queue_wait_array(scene.queue.get(), scene.in.get(), nullptr, error);
    }));
    exercise(asking("array_get_device", id, [](Scene& scene, arrowdevice_error* error) {
      arrowdevice_device* found = nullptr;
      const int code = arrowdevice_array_get_device(scene.in.get(), &found, error);
      if (code == 0) CHECK(found != nullptr);
      return code;
    }));
    exercise(asking("array_is_ready", id, [](Scene& scene, arrowdevice_error* error) {
      int is_ready = -1;
      const int code = arrowdevice_array_is_ready(scene.in.get(), nullptr, &is_ready, error);
      CHECK(is_ready == (code == 0 ? 1 : 0));
      return code;
    }));
  }
  for (const char* function : {"event_import", "queue_wait_event", "lost"}) {
    INFO(function);
    CHECK(was_reached("queue_wait_array", function));
  }
  CHECK(was_reached("array_wait", "event_wait"));
  CHECK(was_reached("array_is_ready", "event_query"));
}

}  // namespace
