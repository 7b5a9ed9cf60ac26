// SPDX-License-Identifier: Apache-2.0
// Operations that hand arrays over: array_export, array_export_event and array_from_host.
#include "faults/scene.h"

namespace faults {
namespace {

struct Exporting : Scene {
  Exporting(const Rows& of, int64_t id) : Scene(of, id), to(device(id)) {
    auto info = sized<arrowdevice_device_info>();
    must(arrowdevice_device_get_info, static_cast<const arrowdevice_device*>(to), &info);
    has_events = (info.flags & ARROWDEVICE_DEVICE_EVENTS) != 0;
  }

  arrowdevice_device* to;
  bool has_events;
};

// Exports an array on `to`. With a queue, its event comes after work on that queue. The host has no events to publish,
// so a call for the host waits for the queue.
Operation exporting(int64_t to, int64_t queue_of, const Rows& (*rows)() = Rows::nested) {
  const bool has_queue = queue_of >= 0;
  return of<Exporting>({.function = "array_export",
                        .variant = std::string("on ") + kind_of(to) + (rows == Rows::flat ? ", flat" : "") +
                                   (has_queue ? std::string(", after a queue of ") + kind_of(queue_of) : ""),
                        .allocates = has_queue},
                       {.make =
                            [to, queue_of, rows] {
                              const auto scene = std::make_shared<Exporting>(rows(), to);
                              if (queue_of >= 0) scene->use_queue(queue_of);
                              return scene;
                            },
                        .prepare =
                            [has_queue](Exporting& scene) {
                              if (has_queue) scene.queue_work();
                            },
                        .run =
                            [](Exporting& scene, auto* error) {
                              poison(*scene.out.out());
                              return arrowdevice_array_export(scene.to, &scene.in->array, scene.queue.get(),
                                                              scene.out.get(), error);
                            },
                        .done =
                            [has_queue](Exporting& scene) {
                              scene.check_taken();
                              check((scene.out->sync_event != nullptr) == (has_queue && scene.has_events),
                                    "the array has an event, or none");
                              scene.check_output();
                            }});
}

struct EventScene : Scene {
  EventScene() : Scene(Rows::nested(), kAddresses[0]) { event.set(); }

  control::UserEvent event;
  int released = 0;
};

Operation exporting_event() {
  return of<EventScene>({.function = "array_export_event", .variant = "on addresses"},
                        {.run =
                             [](EventScene& scene, auto* error) {
                               poison(*scene.out.out());
                               return arrowdevice_array_export_event(
                                   device(kAddresses[0]), &scene.in->array, scene.event.sync_event(),
                                   [](void* user, void*) { ++static_cast<EventScene*>(user)->released; }, &scene,
                                   scene.out.get(), error);
                             },
                         .refused =
                             [](EventScene& scene) {
                               scene.check_refused();
                               check_equal(scene.released, 0, "releases of an event that was not taken over");
                             },
                         .done =
                             [](EventScene& scene) {
                               scene.check_taken();
                               scene.check_output();
                               must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
                               check_equal(scene.released, 1, "releases of the event");
                             }});
}

Operation from_host() {
  return of<Scene>({.function = "array_from_host", .allocates = false},
                   {.make = [] { return std::make_shared<Scene>(Rows::nested(), kHost); },
                    .run =
                        [](Scene& scene, auto* error) {
                          poison(*scene.out.out());
                          return arrowdevice_array_from_host(&scene.in->array, scene.out.get(), error);
                        },
                    .done = [](Scene& scene) { scene.check_output(); }});
}

}  // namespace

void add_exports(Operations& operations) {
  operations.push_back(exporting(kHost, kHost));
  operations.push_back(exporting(kAddresses[0], kHost));
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    operations.push_back(exporting(id, id));
    operations.push_back(exporting(id, id, Rows::flat));
    operations.push_back(exporting(kHost, id));
  }
  operations.push_back(exporting_event());
  operations.push_back(from_host());
}

}  // namespace faults
