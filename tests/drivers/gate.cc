// SPDX-License-Identifier: Apache-2.0
#include "drivers/gate.h"

#include "drivers/trips.h"

namespace drivers {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with

namespace {

void wait(void* is_open) { static_cast<std::atomic<bool>*>(is_open)->wait(false); }

}  // namespace

const HostCase& small() { return find_case("record batch"); }

Owned<ArrowDeviceArray> on_host(const HostCase& one) {
  Owned<ArrowArray> array = one.array(Ledger());
  return output_of(arrowdevice_array_from_host, array.get());
}

Owned<ArrowDeviceArray> on_gpu(const HostCase& one) {
  Owned<ArrowDeviceArray> host = on_host(one);
  const auto schema = one.schema();
  Owned<ArrowDeviceArray> out;
  must(arrowdevice_array_copy, host.get(), schema.get(), gpu(), nullptr, out.out());
  return out;
}

Gate::Gate() : array_(on_gpu(small())), stream_(create_stream(0)), event_(create_event(0)) {
  make_current(0);
  void (*const function)(void*) = wait;
  expect(
      call(is_cuda() ? "cuLaunchHostFunc" : "hipLaunchHostFunc", stream_, function, static_cast<void*>(&is_open_)) == 0,
      "no host function");
  undo_make_current();
  record(0, event_, stream_);
  array_->sync_event = &event_;
}

Gate::~Gate() {
  open();
  arrowdevice_array_wait(array_.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, nullptr);
  array_.reset();
  arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr);
  destroy_event(0, event_);
  destroy_stream(0, stream_);
  trim_all();
}

void Gate::open() {
  is_open_ = true;
  is_open_.notify_all();
}

Queue Gate::queue() {
  arrowdevice_queue* made = nullptr;
  must(arrowdevice_queue_create, gpu(), &made);
  Queue queue(made);
  must(arrowdevice_queue_wait_array, queue.get(), array(), nullptr);
  return queue;
}

}  // namespace drivers
