// SPDX-License-Identifier: Apache-2.0
// Scenarios of views of imported arrays.
#include "allocations/scene.h"

namespace allocations {
namespace {

struct Way {
  int64_t id;
  uint32_t flags = 0;
  bool has_queue = false;
  int level = ARROWDEVICE_VALIDATE_STRUCTURE;

  std::string text() const {
    return std::string(kind_of(id)) + (flags != 0 ? ", with sizes" : "") + (has_queue ? ", for a queue" : "") +
           (level != ARROWDEVICE_VALIDATE_STRUCTURE ? ", validated" : "");
  }
};

int import(Scene& scene, const Way& way, arrowdevice_error* error) {
  arrowdevice_import_options options{};
  options.struct_size = sizeof options;
  options.flags = way.flags;
  options.queue = scene.queue.get();
  options.validate = way.level;
  auto* view = poisoned_pointer<arrowdevice_view>();
  const int code = arrowdevice_array_import(scene.in.get(), scene.rows.schema(), &options, &view, error);
  scene.view.reset(view);
  return code;
}

Scenario importing(const Way& way) {
  return {.function = "array_import", .variant = way.text(), .make = [way] {
            const auto scene = std::make_shared<Scene>(Rows::nested(), way.id);
            if (way.has_queue) scene->queue = queue_on(device(way.id));
            Attempt attempt;
            attempt.run = [scene, way](auto* error) { return import(*scene, way, error); };
            attempt.check_refused = [scene] { scene->check_refused(); };
            attempt.check_done = [scene] {
              check(scene->in.released(), "the input was not taken over");
              scene->check_view();
            };
            return attempt;
          }};
}

// Calls a function with a view. The call may fail.
using Body = std::function<int(Scene& scene, arrowdevice_error* error)>;

Scenario with_view(const char* function, const char* variant, int64_t id, Body body, std::function<void(Scene&)> done,
                   bool allocates) {
  return {.function = function,
          .variant = std::string("of ") + kind_of(id) + variant,
          .make =
              [id, body, done] {
                const auto scene = std::make_shared<Scene>(Rows::nested(), id);
                arrowdevice_error error{};
                check_code(import(*scene, {id}, &error), 0, error);
                scene->queue = queue_on(device(id));
                Attempt attempt;
                attempt.run = [scene, body](auto* error_of_call) { return body(*scene, error_of_call); };
                attempt.check_refused = [scene] {
                  scene->check_view();
                  check(scene->out.released(), "the output of a call that failed is not released");
                };
                attempt.check_done = [scene, done] { done(*scene); };
                return attempt;
              },
          .allocates = allocates};
}

int share(Scene& scene, arrowdevice_error* error) {
  poison(*scene.out.out());
  return arrowdevice_view_share(scene.view.get(), scene.out.get(), error);
}

int release_after(Scene& scene, arrowdevice_error* error) {
  const int code = arrowdevice_view_release_after(scene.view.get(), scene.queue.get(), error);
  if (code == 0) static_cast<void>(scene.view.release());
  return code;
}

int detach(Scene& scene, arrowdevice_error*) {
  poison(*scene.out.out());
  arrowdevice_view_detach(scene.view.release(), scene.out.get());
  return 0;
}

int share_and_detach(Scene& scene, arrowdevice_error* error) {
  Array& other = scene.in;  // the view has taken this array over
  const int code = arrowdevice_view_share(scene.view.get(), other.get(), error);
  return code != 0 ? code : detach(scene, error);
}

int look(Scene& scene, arrowdevice_error*) {
  check_now(arrowdevice_view_get_root(scene.view.get()) != nullptr, "a view without a root");
  check_now(arrowdevice_view_get_array(scene.view.get()) != nullptr, "a view without an array");
  check_now(arrowdevice_view_get_device(scene.view.get()) != nullptr, "a view without a device");
  return 0;
}

int release(Scene& scene, arrowdevice_error*) {
  scene.view.reset();
  return 0;
}

}  // namespace

void add_views(Scenarios& scenarios) {
  for (const Way& way :
       {Way{-1, ARROWDEVICE_IMPORT_RESOLVE_SIZES}, Way{kAddresses[0]},
        Way{kAddresses[0], ARROWDEVICE_IMPORT_RESOLVE_SIZES}, Way{kHandles[0], 0, true},
        Way{kHandles[0], ARROWDEVICE_IMPORT_RESOLVE_SIZES, true}, Way{-1, 0, false, ARROWDEVICE_VALIDATE_FULL},
        Way{kAddresses[0], 0, true, ARROWDEVICE_VALIDATE_STRICT}}) {
    scenarios.push_back(importing(way));
  }
  const auto check_output = [](Scene& scene) {
    scene.view.reset();
    scene.check_output();
  };
  const auto check_view = [](Scene& scene) { scene.check_view(); };
  const auto check_nothing = [](Scene&) {};
  for (const int64_t id : {int64_t{-1}, kHandles[0]}) {
    for (const char* function : {"view_get_root", "view_get_array", "view_get_device"}) {
      scenarios.push_back(with_view(function, "", id, look, check_view, false));
    }
    scenarios.push_back(with_view("view_share", "", id, share, check_output, true));
    scenarios.push_back(with_view("view_detach", "", id, detach, check_output, false));
    scenarios.push_back(with_view("view_detach", ", shared", id, share_and_detach, check_output, true));
    // Memory of a device goes back to a pool, which records it.
    scenarios.push_back(with_view("view_release", "", id, release, check_nothing, id >= 0));
    scenarios.push_back(with_view("view_release_after", "", id, release_after, check_nothing, true));
  }
}

}  // namespace allocations
