// SPDX-License-Identifier: Apache-2.0
#include "sim_table.h"

using namespace sim_test;
using arrowdevice::sim::Peers;

namespace {

arrowdevice_device_info describe(void* device) { return output_of(table().device_get_info, device); }

uint32_t reach(void* from, void* to) {
  uint32_t out = 99;
  must(table().device_get_peer_flags, from, to, &out);
  return out;
}

}  // namespace

TEST_CASE("simulated device: devices follow their configuration", "[sim]") {
  control::reset(devices("ah"));
  int64_t count = output_of(table().device_count, ARROW_DEVICE_EXT_DEV);
  CHECK(count == 2);
  void* out = nullptr;
  CHECK(code(table().device_open, ARROW_DEVICE_EXT_DEV, int64_t{2}, &out) == ENODEV);
  CHECK(code(table().device_open, ARROW_DEVICE_EXT_DEV, int64_t{-1}, &out) == ENODEV);
  CHECK(code(table().device_open, ARROW_DEVICE_CUDA, int64_t{0}, &out) == EINVAL);
  CHECK(open(0) == open(0));

  const auto first = describe(open(0)), second = describe(open(1));
  CHECK(std::string(first.name) == "Simulated accelerator 0 (addresses)");
  CHECK(std::string(second.name) == "Simulated accelerator 1 (handles)");
  CHECK(first.flags == (ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_EVENTS | ARROWDEVICE_DEVICE_SHAREABLE));
  CHECK(second.flags == (ARROWDEVICE_DEVICE_EVENTS | ARROWDEVICE_DEVICE_SHAREABLE));
  CHECK(first.buffer_alignment == 64);
  CHECK(second.buffer_alignment == 128);
  CHECK(std::memcmp(first.uuid, describe(open(0)).uuid, sizeof first.uuid) == 0);
  CHECK(std::memcmp(first.uuid, second.uuid, sizeof first.uuid) != 0);
}

TEST_CASE("simulated device: peer access follows the configuration", "[sim]") {
  const Peers peers = GENERATE(Peers::kNone, Peers::kCopy, Peers::kAccess);
  auto configuration = devices("aah");
  configuration.peers = peers;
  control::reset(configuration);
  void* first = open(0);
  void* second = open(1);
  void* handles = open(2);
  const uint32_t copy = peers == Peers::kNone ? 0 : ARROWDEVICE_PEER_COPY;
  CHECK(reach(first, second) == (copy | (peers == Peers::kAccess ? ARROWDEVICE_PEER_ACCESS : 0u)));
  CHECK(reach(first, handles) == copy);
  CHECK(reach(first, first) == (ARROWDEVICE_PEER_COPY | ARROWDEVICE_PEER_ACCESS));
  CHECK(reach(first, nullptr) == ARROWDEVICE_PEER_COPY);
  CHECK(reach(nullptr, handles) == ARROWDEVICE_PEER_COPY);

  // Copies agree with the result of reach().
  const Buffer source(first, 64), target(second, 64), far_target(handles, 64);
  const auto bytes = sample(64);
  control::poke(0, source.get(), 0, bytes.data(), 64);
  const Queue queue(second);
  CHECK(queue.try_copy(between(target, source)) == (copy != 0 ? 0 : ENOTSUP));
  CHECK(queue.try_copy(between(far_target, source)) == (copy != 0 ? 0 : ENOTSUP));
  std::vector<std::byte> seen(64);
  auto in_place = to_host(seen.data(), source);
  in_place.src_device = second;  // the second device uses the first device's memory as its own
  CHECK(queue.try_copy(in_place) == (peers == Peers::kAccess ? 0 : EINVAL));
  CHECK(queue.finish() == 0);
  CHECK((content(1, target) == bytes) == (copy != 0));
  CHECK((seen == bytes) == (peers == Peers::kAccess));
  CHECK(control::counters(1).bytes_peer == (copy != 0 ? 128 : 0));
}

TEST_CASE("simulated device: bytes are counted by source and target", "[sim]") {
  control::reset(devices("h"));
  void* device = open(0);
  const Queue queue(device);
  const Buffer first(device, 100), second(device, 100);
  auto bytes = sample(100);
  const arrowdevice_backend_region regions[] = {to_device(first, bytes.data()), to_device(second, bytes.data(), 90)};
  must(table().queue_copy, queue.get(), regions, int64_t{2});
  queue.copy(between(second, first));
  queue.copy(to_host(bytes.data(), second, 60));
  CHECK(queue.finish() == 0);
  const auto counted = control::counters(0);
  CHECK(counted.copies == 3);
  CHECK(counted.regions == 4);
  CHECK(counted.bytes_in == 110);
  CHECK(counted.bytes_within == 100);
  CHECK(counted.bytes_out == 40);
  CHECK(counted.events_recorded == 1);
  CHECK(counted.events_live == 0);
  CHECK(counted.host_waits == 1);
  CHECK(counted.allocations_live == 2);
  CHECK(counted.bytes_live == 200);
}

TEST_CASE("simulated device: a reset keeps the counters of live objects only", "[sim]") {
  control::reset(devices("h"));
  void* device = open(0);
  const Queue queue(device);
  const Buffer buffer(device, 300);
  auto* sub = output_of(table().sub_buffer_create, device, buffer.get(), int64_t{0}, int64_t{10});
  std::vector<std::byte> host(64);
  queue.copy(to_host(host.data(), buffer, 0, 64));
  const Event event = queue.record();
  CHECK(event.wait() == 0);

  control::reset(devices("h"));
  const auto counted = control::counters(0);
  CHECK(counted.allocations_live == 1);
  CHECK(counted.bytes_live == 300);
  CHECK(counted.bytes_peak == 300);
  CHECK(counted.sub_buffers_live == 1);
  CHECK(counted.queues_live == 1);
  CHECK(counted.events_live == 1);
  CHECK(counted.copies + counted.regions + counted.bytes_out + counted.events_recorded + counted.host_waits == 0);
  table().sub_buffer_destroy(device, sub);
}

TEST_CASE("simulated device: an application's queue is wrapped and not owned", "[sim]") {
  control::reset(devices("aa"));
  void* device = open(0);
  const Queue application(device);
  auto native = output_of(table().queue_get_native, application.get());

  void* wrapped = nullptr;
  CHECK(code(table().queue_wrap, open(1), &native, &wrapped) == EINVAL);  // of another device
  must(table().queue_wrap, device, &native, &wrapped);
  auto again = output_of(table().queue_get_native, wrapped);
  CHECK(again.queue == native.queue);

  // Both names are the same queue, so the work of both runs in order.
  control::hold(0);
  const Buffer buffer(device, 64);
  const auto bytes = sample(64);
  std::vector<std::byte> seen(64);
  application.copy(to_device(buffer, bytes.data()));
  const auto region = to_host(seen.data(), buffer);
  must(table().queue_copy, wrapped, &region, int64_t{1});
  control::resume(0);
  CHECK(application.finish() == 0);
  CHECK(seen == bytes);

  table().queue_destroy(wrapped);
  CHECK(application.finish() == 0);
  CHECK(code(table().queue_get_native, wrapped, &again) == EINVAL);

  native.queue = nullptr;  // the default queue
  must(table().queue_wrap, device, &native, &wrapped);
  must(table().queue_get_native, wrapped, &again);
  CHECK(again.queue == nullptr);
  table().queue_destroy(wrapped);
}

TEST_CASE("simulated device: an application's context is a device until it is unwrapped", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  int context = 0;
  auto native = sized<arrowdevice_native_device>();
  void* wrapped = nullptr;
  CHECK(code(table().device_wrap, ARROW_DEVICE_EXT_DEV, int64_t{0}, &native, &wrapped) == EINVAL);  // no context
  native.context = &context;
  CHECK(code(table().device_wrap, ARROW_DEVICE_EXT_DEV, int64_t{1}, &native, &wrapped) == ENODEV);
  must(table().device_wrap, ARROW_DEVICE_EXT_DEV, int64_t{0}, &native, &wrapped);
  auto* twice = output_of(table().device_wrap, ARROW_DEVICE_EXT_DEV, int64_t{0}, &native);
  CHECK(twice == wrapped);
  CHECK(wrapped != device);
  CHECK((describe(wrapped).flags & ARROWDEVICE_DEVICE_WRAPPED) != 0);

  auto handles = output_of(table().device_get_native, wrapped);
  CHECK(handles.context == &context);
  CHECK(handles.device == device);

  {
    const Buffer buffer(wrapped, 64);
    auto* found = output_of(table().device_locate, ARROW_DEVICE_EXT_DEV, int64_t{0}, buffer.get(), nullptr);
    CHECK(found == wrapped);
    must(table().device_unwrap, wrapped);  // undoes one of two wraps
    CHECK(code(table().device_unwrap, wrapped) == EBUSY);
  }
  {
    const Queue queue(wrapped);
    CHECK(queue.finish() == 0);
    CHECK(code(table().device_unwrap, wrapped) == EBUSY);
  }
  must(table().device_unwrap, wrapped);
  CHECK(code(table().device_unwrap, wrapped) == EINVAL);
  CHECK(code(table().device_unwrap, device) == EINVAL);
}

TEST_CASE("simulated device: the context of an open device is that device", "[sim]") {
  control::reset(devices("h"));
  void* device = open(0);
  auto native = output_of(table().device_get_native, device);
  auto* wrapped = output_of(table().device_wrap, ARROW_DEVICE_EXT_DEV, int64_t{0}, &native);
  CHECK(wrapped == device);
  must(table().device_unwrap, wrapped);
  CHECK(describe(device).total_memory > 0);
}

TEST_CASE("simulated device: buffers and events are located", "[sim]") {
  control::reset(devices("ah"));
  void* device = open(1);
  const Buffer buffer(device, 64);
  const Queue queue(device);
  const Event event = queue.record();
  auto* sync_event = output_of(table().event_publish, event.get());
  const auto type = ARROW_DEVICE_EXT_DEV;
  auto* found = output_of(table().device_locate, type, int64_t{1}, buffer.get(), nullptr);
  CHECK(found == device);
  must(table().device_locate, type, int64_t{1}, nullptr, sync_event, &found);
  CHECK(found == device);
  must(table().device_locate, type, int64_t{0}, nullptr, nullptr, &found);
  CHECK(found == open(0));
  CHECK(code(table().device_locate, type, int64_t{0}, buffer.get(), nullptr, &found) == EINVAL);
  CHECK(code(table().device_locate, type, int64_t{0}, nullptr, sync_event, &found) == EINVAL);
  CHECK(code(table().device_locate, type, int64_t{0}, &found, nullptr, &found) == EINVAL);
}
