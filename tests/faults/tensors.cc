// SPDX-License-Identifier: Apache-2.0
// Operations of DLPack tensors.
#include <cstring>

#include "faults/scene.h"
#include "interop/dlpack.h"

namespace faults {
namespace {

using arrowdevice::interop::from_c;
using arrowdevice::interop::ManagedTensor;
using arrowdevice::interop::to_c;

struct End {
  void operator()(ManagedTensor* tensor) const noexcept { tensor->deleter(to_c(tensor)); }
};

struct TensorScene : Scene {
  explicit TensorScene(int64_t id) : Scene(Rows::lists(), id) {}

  int dlpack_export(arrowdevice_queue* waiter, arrowdevice_error* error) {
    auto* made = poisoned_pointer<DLManagedTensorVersioned>();
    const int code = arrowdevice_dlpack_export(in.get(), rows.schema(), waiter, &made, error);
    check_now((code == 0) == (made != nullptr), "another tensor than NULL on failure");
    tensor.reset(from_c(made));
    return code;
  }

  int dlpack_import(arrowdevice_error* error) {
    poison(*out.out());
    poison(*schema_out.out());
    const int code = arrowdevice_dlpack_import(to_c(tensor.get()), queue.get(), out.get(), schema_out.get(), error);
    if (code == 0) static_cast<void>(tensor.release());
    return code;
  }

  std::unique_ptr<ManagedTensor, End> tensor;
  ManagedTensor before{};  // this tensor is imported
};

Operation exporting(int64_t id, bool has_waiter, bool is_counted) {
  return of<TensorScene>({.function = "dlpack_export",
                          .variant = std::string("on ") + kind_of(id) + (has_waiter ? ", for a queue" : "") +
                                     (is_counted ? "" : ", with nulls to be counted")},
                         {.make =
                              [id, is_counted] {
                                const auto scene = std::make_shared<TensorScene>(id);
                                scene->in->array.null_count = is_counted ? 0 : -1;
                                scene->queue = make_queue(device(id));
                                return scene;
                              },
                          .run =
                              [has_waiter](TensorScene& scene, auto* error) {
                                return scene.dlpack_export(has_waiter ? scene.queue.get() : nullptr, error);
                              },
                          .refused =
                              [](TensorScene& scene) {
                                check(scene.tensor == nullptr, "a call that failed has made a tensor");
                                scene.check_input();
                              },
                          .done =
                              [](TensorScene& scene) {
                                scene.check_input();
                                scene.in.reset();  // the tensor keeps the memory alive
                                scene.tensor.reset();
                              }});
}

// Imports a tensor. With a queue, its memory is used after work on that queue. The host has no events to publish, so a
// call for the host waits for the queue.
Operation importing(int64_t id, int64_t queue_of) {
  return of<TensorScene>({.function = "dlpack_import",
                          .variant = std::string("on ") + kind_of(id) +
                                     (queue_of < 0 ? "" : std::string(", after a queue of ") + kind_of(queue_of))},
                         {.make =
                              [id, queue_of] {
                                const auto scene = std::make_shared<TensorScene>(id);
                                arrowdevice_error error{};
                                check_code(scene->dlpack_export(nullptr, &error), 0, error);
                                scene->in.reset();
                                scene->before = *scene->tensor;
                                if (queue_of >= 0) scene->use_queue(queue_of);
                                return scene;
                              },
                          .prepare =
                              [queue_of](TensorScene& scene) {
                                if (queue_of >= 0) scene.queue_work();
                              },
                          .run = [](TensorScene& scene, auto* error) { return scene.dlpack_import(error); },
                          .refused =
                              [](TensorScene& scene) {
                                if (scene.queue != nullptr)
                                  arrowdevice_queue_finish(scene.queue.get(), ARROWDEVICE_NO_TIMEOUT, nullptr);
                                scene.check_released();
                                check(std::memcmp(&scene.before, scene.tensor.get(), sizeof scene.before) == 0,
                                      "a call that failed has changed the tensor");
                              },
                          .done =
                              [publishes = id >= 0 && queue_of >= 0](TensorScene& scene) {
                                check(!scene.schema_out.released(), "no schema was put out");
                                check((scene.out->sync_event != nullptr) == publishes,
                                      "the array has an event, or none");
                                scene.check_output();
                              }});
}

}  // namespace

void add_tensors(Operations& operations) {
  for (const int64_t id : kPlaces) {
    for (const bool is_counted : {true, false}) {
      operations.push_back(exporting(id, false, is_counted));
      if (id >= 0) operations.push_back(exporting(id, true, is_counted));
    }
    operations.push_back(importing(id, kHost));
    operations.push_back(importing(id, std::max(id, kAddresses[0])));
  }
  operations.push_back(importing(kHost, kHandles[0]));
}

}  // namespace faults
