// SPDX-License-Identifier: Apache-2.0
// Operations of views of imported arrays.
#include "faults/scene.h"

namespace faults {
namespace {

struct Import {
  int64_t id;
  uint32_t flags = 0;
  bool has_queue = false;
  int level = ARROWDEVICE_VALIDATE_STRUCTURE;
  const Rows& (*rows)() = Rows::nested;

  std::string text() const {
    return std::string("on ") + kind_of(id) + (rows == Rows::flat ? ", flat" : "") +
           (flags != 0 ? ", with sizes" : "") + (has_queue ? ", for a queue" : "") +
           (level != ARROWDEVICE_VALIDATE_STRUCTURE ? ", validated" : "");
  }
};

int import(Scene& scene, const Import& how, arrowdevice_error* error) {
  auto options = sized<arrowdevice_import_options>();
  options.flags = how.flags;
  options.queue = how.has_queue ? scene.queue.get() : nullptr;
  options.validate = how.level;
  auto* view = poisoned_pointer<arrowdevice_view>();
  const int code = arrowdevice_array_import(scene.in.get(), scene.rows.schema(), &options, &view, error);
  scene.view.reset(view);
  return code;
}

std::shared_ptr<Scene> with_queue(const Rows& rows, int64_t id) {
  const auto scene = std::make_shared<Scene>(rows, id);
  scene->queue = make_queue(device(id));
  return scene;
}

Operation importing(const Import& how) {
  return of<Scene>({.function = "array_import", .variant = how.text()},
                   {.make = [how] { return with_queue(how.rows(), how.id); },
                    .run = [how](Scene& scene, auto* error) { return import(scene, how, error); },
                    .done =
                        [how](Scene& scene) {
                          scene.check_taken();
                          check(how.flags == 0 || knows_all_sizes(*arrowdevice_view_get_root(scene.view.get())),
                                "a view does not know all sizes");
                          scene.check_view();
                        }});
}

// Imports for a queue, then releases after it. If that fails, the array comes back unchanged.
int import_and_release(Scene& scene, arrowdevice_error* error) {
  const int code = import(scene, {kHost, ARROWDEVICE_IMPORT_RESOLVE_SIZES, true}, error);
  if (code != 0) return code;
  const int after = arrowdevice_view_release_after(scene.view.get(), scene.queue.get(), error);
  auto* const view = scene.view.release();
  if (after != 0) arrowdevice_view_detach(view, scene.in.out());
  return after;
}

using Body = std::function<int(Scene& scene, arrowdevice_error* error)>;

// Returns an operation with a view. A failed call leaves the view unchanged.
Operation with_view(Operation operation, int64_t id, Body body, std::function<void(Scene&)> done) {
  operation.variant = std::string("of ") + kind_of(id) + operation.variant;
  return of<Scene>(std::move(operation), {.make =
                                              [id] {
                                                auto scene = with_queue(Rows::nested(), id);
                                                arrowdevice_error error{};
                                                check_code(import(*scene, {id}, &error), 0, error);
                                                return scene;
                                              },
                                          .run = std::move(body),
                                          .refused =
                                              [](Scene& scene) {
                                                scene.check_view();
                                                check(scene.out.released(), "an output is not released");
                                              },
                                          .done = std::move(done)});
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

void add_views(Operations& operations) {
  constexpr uint32_t kSizes = ARROWDEVICE_IMPORT_RESOLVE_SIZES;
  for (const int64_t id : kPlaces) {
    for (const bool has_queue : {false, true}) {
      if (id >= 0) operations.push_back(importing({id, 0, has_queue}));
      if (id >= 0 || !has_queue) operations.push_back(importing({id, kSizes, has_queue}));
    }
    if (id >= 0) operations.push_back(importing({id, kSizes, false, ARROWDEVICE_VALIDATE_STRUCTURE, Rows::flat}));
    operations.push_back(importing({id, 0, id == kAddresses[0], ARROWDEVICE_VALIDATE_STRICT}));
  }
  const auto check_output = [](Scene& scene) {
    scene.view.reset();
    scene.check_output();
  };
  const auto check_view = [](Scene& scene) { scene.check_view(); };
  const auto check_nothing = [](Scene&) {};
  for (const int64_t id : kPlaces) {
    for (const char* function : {"view_get_root", "view_get_array", "view_get_device"}) {
      operations.push_back(with_view({.function = function, .allocates = false}, id, look, check_view));
    }
    operations.push_back(with_view({.function = "view_share"}, id, share, check_output));
    operations.push_back(with_view({.function = "view_detach", .allocates = false}, id, detach, check_output));
    operations.push_back(
        with_view({.function = "view_detach", .variant = ", shared"}, id, share_and_detach, check_output));
    operations.push_back(with_view({.function = "view_release", .allocates = false}, id, release, check_nothing));
    operations.push_back(with_view({.function = "view_release_after", .may_survive = {"event_query"}}, id,
                                   release_after, check_nothing));
  }
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    operations.push_back(of<Scene>({.function = "array_import",
                                    .variant = std::string("and view_release_after, on ") + kind_of(id),
                                    .may_survive = {"event_query"}},
                                   {.make = [id] { return with_queue(Rows::nested(), id); },
                                    .run = import_and_release,
                                    .done = [](Scene& scene) { scene.check_taken(); }}));
  }
}

}  // namespace faults
