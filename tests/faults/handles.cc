// SPDX-License-Identifier: Apache-2.0
// Operations of handles for other processes.
#include "faults/scene.h"

namespace faults {
namespace {

struct HandleScene : Scene {
  // In manual mode no thread releases arrays, so that the blocks of memory can be counted. With devices they are not
  // counted exactly, and work is deferred before.
  HandleScene(const Rows& of, int64_t its_id, bool is_manual) : Scene(of, its_id), id(its_id) {
    if (is_manual && id == kHost) must(arrowdevice_deferred_set_manual, 1);
  }
  ~HandleScene() {
    arrowdevice_ipc_handle_release(&handle);
    in.reset();
    out.reset();
    must(arrowdevice_deferred_run, int64_t{-1}, nullptr);
  }
  HandleScene(const HandleScene&) = delete;

  // Moves the input into memory that other processes can open.
  void make_shareable() {
    auto options = sized<arrowdevice_pool_options>();
    options.flags = ARROWDEVICE_POOL_SHAREABLE;
    pool = make_pool(device(id), &options);
    in = copy(*in, *rows.schema(), device(id), 0, nullptr, pool.get());
  }

  int get(arrowdevice_error& error) {
    poison(handle);
    return arrowdevice_array_get_ipc_handle(in.get(), rows.schema(), nullptr, &handle, &error);
  }

  int open(arrowdevice_error& error) {
    poison(*out.out());
    poison(*schema_out.out());
    return arrowdevice_array_open_ipc_handle(handle.bytes, handle.size, handle.descriptors, handle.n_descriptors,
                                             nullptr, out.get(), schema_out.get(), &error);
  }

  const int64_t id;
  arrowdevice_ipc_handle handle{};
};

Operation getting(const Rows& (*rows)(), int64_t id, bool is_shareable, bool is_manual = true) {
  const std::string memory =
      (is_shareable ? "of shareable memory on " : "of other memory on ") + std::string(kind_of(id));
  return of<HandleScene>({.function = "array_get_ipc_handle",
                          .variant = memory + (is_manual ? "" : ", with a thread"),
                          .has_threads = !is_manual,
                          .keeps_blocks = !is_manual},
                         {.make =
                              [rows, id, is_shareable, is_manual] {
                                const auto scene = std::make_shared<HandleScene>(rows(), id, is_manual);
                                if (is_shareable) scene->make_shareable();
                                return scene;
                              },
                          .run = [](HandleScene& scene, auto* error) { return scene.get(*error); },
                          .refused =
                              [](HandleScene& scene) {
                                check(scene.handle.release == nullptr, "a call that failed has made a handle");
                                scene.check_input();
                              },
                          .done =
                              [is_shareable](HandleScene& scene) {
                                check((scene.handle.copied_bytes == 0) == is_shareable, "the copy is not reported");
                                scene.check_input();
                                arrowdevice_ipc_handle_release(&scene.handle);
                              }});
}

std::shared_ptr<HandleScene> with_handle(const Rows& rows, int64_t id) {
  const auto scene = std::make_shared<HandleScene>(rows, id, true);
  arrowdevice_error error{};
  check_code(scene->get(error), 0, error);
  return scene;
}

Operation opening(const Rows& (*rows)(), int64_t id) {
  return of<HandleScene>({.function = "array_open_ipc_handle", .variant = std::string("on ") + kind_of(id)},
                         {.make = [rows, id] { return with_handle(rows(), id); },
                          .run = [](HandleScene& scene, auto* error) { return scene.open(*error); },
                          .refused =
                              [](HandleScene& scene) {
                                scene.check_released();
                                check(scene.schema_out.released(), "a call that failed has made a schema");
                              },
                          .done =
                              [](HandleScene& scene) {
                                check(!scene.schema_out.released(), "no schema was put out");
                                scene.check_output();
                              }});
}

Operation releasing() {
  return of<HandleScene>(
      {.function = "ipc_handle_release", .allocates = false},
      {.make = [] { return with_handle(Rows::nested(), kHost); },
       .run =
           [](HandleScene& scene, auto*) {
             arrowdevice_ipc_handle_release(&scene.handle);
             return 0;
           },
       .done = [](HandleScene& scene) { check(scene.handle.release == nullptr, "is not released"); }});
}

}  // namespace

void add_handles(Operations& operations) {
  for (const int64_t id : kPlaces) {
    operations.push_back(getting(Rows::nested, id, false));
    operations.push_back(getting(Rows::nested, id, true));
    operations.push_back(opening(Rows::nested, id));
  }
  operations.push_back(getting(Rows::whole_flat, kHost, true));
  operations.push_back(getting(Rows::nested, kHost, true, false));
  operations.push_back(releasing());
}

}  // namespace faults
