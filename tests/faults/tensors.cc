// SPDX-License-Identifier: Apache-2.0
// Each backend call of the DLPack functions fails in turn; see trial.h.
#include <memory>

#include "faults/trial.h"
#include "interop/dlpack.h"

namespace {

using namespace faults;  // NOLINT: what every line of these tests is written with
using arrowdevice::interop::from_c;
using arrowdevice::interop::ManagedTensor;
using arrowdevice::interop::to_c;

const char* kind_of(int64_t id) { return id < kHandles[0] ? "on addresses" : "on handles"; }

struct End {
  void operator()(ManagedTensor* tensor) const noexcept { tensor->deleter(to_c(tensor)); }
};

// An array, the tensor made from it, and the array made from that tensor.
struct Scene {
  Scene(int64_t id, const Ledger& ledger) : in(Rows::lists().on(sim(id), ledger)), queue(make_queue(sim(id))) {}

  int dlpack_export(arrowdevice_queue* waiter, arrowdevice_error* error) {
    auto* made = reinterpret_cast<DLManagedTensorVersioned*>(this);  // the call must set this to NULL
    const int code = arrowdevice_dlpack_export(in.get(), &Rows::lists().schema(), waiter, &made, error);
    tensor.reset(from_c(made));
    return code;
  }

  int dlpack_import(arrowdevice_error* error) {
    poison(*out.out());
    const int code = arrowdevice_dlpack_import(to_c(tensor.get()), queue.get(), out.get(), out_schema.out(), error);
    if (code == 0) static_cast<void>(tensor.release());
    return code;
  }

  // Submits work to the queue, so that events come after it.
  void queue_work(arrowdevice_device* on, void* buffer) {
    arrowdevice_copy_region region{};
    region.dst_device = on;
    region.dst = buffer;
    region.src = &host_memory;
    region.size = sizeof host_memory;
    must(arrowdevice_queue_copy, queue.get(), &region, 1);
  }

  Array in;
  Queue queue;
  std::unique_ptr<ManagedTensor, End> tensor;
  ManagedTensor before{};  // this tensor is imported
  Array out;
  Owned<ArrowSchema> out_schema;
  int64_t host_memory = 7;
};

Operation exporting(int64_t id, bool has_waiter, bool is_counted) {
  return {.name = "dlpack_export",
          .variant = std::string(kind_of(id)) + (has_waiter ? ", for a queue" : "") +
                     (is_counted ? "" : ", with nulls to be counted"),
          .make = [id, has_waiter, is_counted] {
            Trial trial;
            const auto scene = std::make_shared<Scene>(id, trial.ledger);
            REQUIRE(scene->in->array.null_count == 0);  // counted on the host
            REQUIRE(scene->in->array.buffers[0] != nullptr);
            if (!is_counted) scene->in->array.null_count = -1;
            trial.run = [scene, has_waiter](auto* error) {
              return scene->dlpack_export(has_waiter ? scene->queue.get() : nullptr, error);
            };
            trial.settle = [scene](auto* error) {
              return arrowdevice_queue_finish(scene->queue.get(), ARROWDEVICE_NO_TIMEOUT, error);
            };
            trial.check_refused = [scene] {
              CHECK(scene->tensor == nullptr);
              REQUIRE_FALSE(scene->in.released());
              CHECK(Rows::lists().difference(*scene->in) == "");
            };
            trial.check_done = [scene](bool) {
              REQUIRE(scene->tensor != nullptr);
              CHECK(Rows::lists().difference(*scene->in) == "");
              scene->in.reset();
              scene->tensor.reset();
            };
            return trial;
          }};
}

TEST_CASE("an array becomes a tensor, or stays what it was, whichever backend call fails", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    for (const bool has_waiter : {false, true}) {
      for (const bool is_counted : {false, true}) exercise(exporting(id, has_waiter, is_counted));
    }
  }
  for (const char* function : {"event_import", "event_wait", "queue_wait_event", "queue_copy", "event_record", "event",
                               "lost", "device_locate"}) {
    INFO(function);
    CHECK(was_reached("dlpack_export", function));
  }
}

// Returns an operation that imports a tensor in memory that the queue writes.
Operation importing(int64_t id, bool publishes) {
  return {.name = "dlpack_import",
          .variant = std::string(kind_of(id)) + (publishes ? "" : ", for the host"),
          .make = [id, publishes] {
            Trial trial;
            const auto scene = std::make_shared<Scene>(id, trial.ledger);
            // The host has no events to publish, so the call waits for the queue.
            if (!publishes) scene->in = Rows::lists().on(cpu(), trial.ledger);
            arrowdevice_error unseen{};
            REQUIRE(scene->dlpack_export(nullptr, &unseen) == 0);
            scene->in.reset();
            scene->before = *scene->tensor;
            const auto target = make_pool(sim(id));
            void* written = nullptr;
            must(arrowdevice_buffer_allocate, sim(id), target.get(), nullptr, 64, &written);
            const auto buffer = std::shared_ptr<void>(
                written, [id](void* memory) { arrowdevice_buffer_free(sim(id), nullptr, memory); });
            trial.prepare = [scene, buffer, id] { scene->queue_work(sim(id), buffer.get()); };
            trial.run = [scene](auto* error) { return scene->dlpack_import(error); };
            trial.settle = [scene](auto* error) {
              const int code = arrowdevice_array_wait(scene->out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
              arrowdevice_queue_finish(scene->queue.get(), ARROWDEVICE_NO_TIMEOUT, nullptr);
              return code;
            };
            trial.check_refused = [scene] {
              arrowdevice_queue_finish(scene->queue.get(), ARROWDEVICE_NO_TIMEOUT, nullptr);
              CHECK(scene->out.released());
              CHECK(scene->out_schema.released());
              REQUIRE(scene->tensor != nullptr);
              CHECK(std::memcmp(&scene->before, scene->tensor.get(), sizeof scene->before) == 0);
            };
            trial.check_done = [scene, publishes](bool spoiled) {
              REQUIRE_FALSE(scene->out.released());
              CHECK((scene->out->sync_event != nullptr) == publishes);
              if (!spoiled) CHECK(Rows::lists().difference(*scene->out) == "");
              scene->out.reset();
            };
            return trial;
          }};
}

TEST_CASE("a tensor becomes an array, or stays what it was, whichever backend call fails", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(importing(id, true));
    exercise(importing(id, false));
  }
  for (const char* function : {"device_locate", "event_record", "event_publish", "event_wait", "event", "lost"}) {
    INFO(function);
    CHECK(was_reached("dlpack_import", function));
  }
}

}  // namespace
