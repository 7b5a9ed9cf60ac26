// SPDX-License-Identifier: Apache-2.0
// Scenarios of DLPack tensors.
#include <cstring>

#include "allocations/scene.h"
#include "interop/dlpack.h"

namespace allocations {
namespace {

using arrowdevice::interop::from_c;
using arrowdevice::interop::ManagedTensor;
using arrowdevice::interop::to_c;

struct End {
  void operator()(ManagedTensor* tensor) const noexcept { tensor->deleter(to_c(tensor)); }
};
using Tensor = std::unique_ptr<ManagedTensor, End>;

struct TensorScene {
  explicit TensorScene(int64_t id) : scene(Rows::lists(), id) {}

  int dlpack_export(arrowdevice_error* error) {
    auto* made = poisoned_pointer<DLManagedTensorVersioned>();
    const int code = arrowdevice_dlpack_export(scene.in.get(), scene.rows.schema(), scene.queue.get(), &made, error);
    check_now((code == 0) == (made != nullptr), "another tensor than NULL on failure");
    tensor.reset(from_c(made));
    return code;
  }

  int dlpack_import(arrowdevice_error* error) {
    poison(*scene.out.out());
    poison(*scene.schema_out.out());
    const int code = arrowdevice_dlpack_import(to_c(tensor.get()), scene.queue.get(), scene.out.get(),
                                               scene.schema_out.get(), error);
    if (code == 0) static_cast<void>(tensor.release());
    return code;
  }

  Scene scene;
  Tensor tensor;
  ManagedTensor before{};  // this tensor is imported
};

Scenario exporting(int64_t id, bool has_waiter, bool is_counted) {
  return {.function = "dlpack_export",
          .variant = std::string("on ") + kind_of(id) + (has_waiter ? ", for a queue" : "") +
                     (is_counted ? "" : ", with nulls to be counted"),
          .make = [id, has_waiter, is_counted] {
            const auto with = std::make_shared<TensorScene>(id);
            with->scene.in->array.null_count = is_counted ? 0 : -1;
            if (has_waiter) with->scene.queue = queue_on(device(id));
            Attempt attempt;
            attempt.run = [with](auto* error) { return with->dlpack_export(error); };
            attempt.check_refused = [with] {
              check(with->tensor == nullptr, "a call that failed has made a tensor");
              with->scene.check_input();
            };
            attempt.check_done = [with] {
              with->scene.check_input();
              with->scene.in.reset();  // the tensor keeps the memory alive
              with->tensor.reset();
            };
            return attempt;
          }};
}

Scenario importing(int64_t id, int64_t queue_of) {
  return {.function = "dlpack_import",
          .variant = std::string("on ") + kind_of(id) + (queue_of < 0 ? "" : ", after a queue"),
          .make = [id, queue_of] {
            const auto with = std::make_shared<TensorScene>(id);
            arrowdevice_error error{};
            check_code(with->dlpack_export(&error), 0, error);
            with->scene.in.reset();
            if (queue_of >= 0) with->scene.queue_pending_work(queue_of);
            with->scene.held.reset();
            with->before = *with->tensor;
            Attempt attempt;
            attempt.run = [with](auto* failure) { return with->dlpack_import(failure); };
            attempt.check_refused = [with] {
              with->scene.check_released();
              check(std::memcmp(&with->before, with->tensor.get(), sizeof with->before) == 0,
                    "a call that failed has changed the tensor");
            };
            attempt.check_done = [with] {
              check(!with->scene.schema_out.released(), "no schema was put out");
              with->scene.check_output();
            };
            return attempt;
          }};
}

}  // namespace

void add_tensors(Scenarios& scenarios) {
  for (const int64_t id : {int64_t{-1}, kAddresses[0], kHandles[0]}) {
    for (const bool is_counted : {true, false}) scenarios.push_back(exporting(id, id >= 0, is_counted));
    scenarios.push_back(importing(id, -1));
    scenarios.push_back(importing(id, std::max(id, kAddresses[0])));
  }
  scenarios.push_back(exporting(kHandles[0], false, true));
}

}  // namespace allocations
