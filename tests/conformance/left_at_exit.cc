// SPDX-License-Identifier: Apache-2.0
#include "conformance/left_at_exit.h"

#include <cstdlib>
#include <stdexcept>

#include "support/calls.h"
#include "support/field.h"
#include "support/handles.h"
#include "support/host_data.h"

namespace arrowdevice::conformance::left_at_exit {
namespace {

using testing::Ledger;
using testing::Owned;
using testing::Pool;
using testing::Queue;

struct Left {
  arrowdevice_device* device = nullptr;
  Pool pool;
  Queue queue;
  void* buffer = nullptr;
  Owned<ArrowDeviceArray> finished, pending;

  ~Left() {
    finished.reset();
    pending.reset();
    arrowdevice_buffer_free(device, nullptr, buffer);
  }
};

// Only the handlers destroy these.
Left* for_last = nullptr;
Left* for_first = nullptr;

void release(Left*& left) {
  delete left;
  left = nullptr;
}

void begin(void (*handler)()) {
  if (std::atexit(handler) != 0) throw std::runtime_error("there is no room for an exit handler");
}

Owned<ArrowDeviceArray> copy_of_some_rows(Left& left) {
  testing::Data rows;
  rows.length = 3;
  rows.buffers = {testing::no_buffer(), testing::buffer_of<int64_t>({1, 2, 3})};
  Owned<ArrowArray> host = testing::make_array(std::move(rows), Ledger());
  const Owned<ArrowSchema> schema = testing::make_schema(testing::field("l"));
  Owned<ArrowDeviceArray> here, there;
  if (arrowdevice_array_from_host(host.get(), here.out(), nullptr) != 0) return there;
  auto options = testing::sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ASYNC | ARROWDEVICE_COPY_ALWAYS;
  options.pool = left.pool.get();
  // All copies use this queue, so that each event except the last belongs to a single array.
  options.queue = left.queue.get();
  // The caller keeps the source until the copy has finished. Here the source is never released.
  static auto& sources = *new std::vector<Owned<ArrowDeviceArray>>;
  arrowdevice_array_copy(here.get(), schema.get(), left.device, &options, there.out(), nullptr);
  sources.push_back(std::move(here));
  return there;
}

Left* make(arrowdevice_device* device) {
  auto* const left = new Left;
  left->device = device;
  auto options = testing::sized<arrowdevice_pool_options>();
  options.max_cached_bytes = -1;
  arrowdevice_pool* pool = nullptr;
  arrowdevice_queue* queue = nullptr;
  arrowdevice_pool_create(device, &options, &pool, nullptr);
  left->pool.reset(pool);
  arrowdevice_queue_create(device, &queue, nullptr);
  left->queue.reset(queue);
  arrowdevice_buffer_allocate(device, pool, nullptr, 1000, &left->buffer, nullptr);
  left->finished = copy_of_some_rows(*left);
  constexpr int64_t kPatienceNs = 1'000'000'000;
  if (!left->finished.released()) arrowdevice_array_wait(left->finished.get(), device, kPatienceNs, nullptr);
  arrowdevice_wait_idle(kPatienceNs, nullptr);  // the deferred release of the copy has another reference to its event
  left->pending = copy_of_some_rows(*left);
  return left;
}

}  // namespace

void release_last() {
  begin([] { release(for_last); });
}

void release_first() {
  // The library registers an exit handler for each device that is opened. After this handler has run, no
  // backend is called. The CPU is needed beside the device under test, so it is opened before.
  arrowdevice_device* cpu = nullptr;
  arrowdevice_device_find_by_id(ARROW_DEVICE_CPU, -1, &cpu, nullptr);
  begin([] { release(for_first); });
}

void leave(arrowdevice_device* device) {
  for_first = make(device);
  for_last = make(device);
}

}  // namespace arrowdevice::conformance::left_at_exit
