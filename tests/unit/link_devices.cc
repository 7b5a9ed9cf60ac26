// SPDX-License-Identifier: Apache-2.0
// Arrays on simulated devices go to another process. The other process begins before the first device is opened,
// because a forked child cannot use the devices of its parent.
#include "device/devices.h"
#include "ipc_batches.h"
#include "link_peer.h"

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with
using ipc_test::is_writable;

constexpr int64_t kDevices[] = {kAddresses[0], kHandles[0]};

// Calls the function for each array that the processes exchange, in the same order in both.
void for_each_array(const std::function<void(int64_t device, const SampleRows& sample)>& function) {
  for (const int64_t device : kDevices) {
    for (const HostCase& one : asked_cases()) {
      if (!is_writable(one.type)) continue;
      INFO(one.name);
      function(device, SampleRows(one.type, one.knobs));
    }
  }
}

// Returns a call that the devices have refused, or "". They may refuse to locate the sizes of variadic buffers, which
// are in host memory. The library asks about them if an array has no other buffer.
std::string refusal() {
  for (const auto& text : control::refusals()) {
    if (!text.starts_with("device_locate")) return text;
  }
  return "";
}

// The tests in this program run in this order.
TEST_CASE("arrays on devices go to another process without a copy") {
  const Peer peer([](int socket) {
    begin();
    for_each_array([&](int64_t, const SampleRows& sample) {
      const Received handle = receive_handle(socket);
      std::string found;
      for (const uint32_t flags : {uint32_t{0}, uint32_t{ARROWDEVICE_COPY_ALWAYS}}) {
        const auto options = copy_options(flags);
        found += difference(sample, *open_received(handle, &options).array);
      }
      say(socket, found.empty() ? refusal() : found);
    });
  });
  begin();
  for_each_array([&](int64_t id, const SampleRows& sample) {
    const Pool pool = make_shareable_pool(sim(id));
    Array array = copy(*sample.array(), *sample.schema, sim(id), 0, nullptr, pool.get());
    const int64_t bytes = counters(sim(id)).bytes_in;
    const Handle handle = get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER);
    CHECK(handle->copied_bytes == 0);
    CHECK(counters(sim(id)).bytes_in == bytes);
    send_handle(peer.socket(), *handle);
    REQUIRE(peer.answer() == "");
    REQUIRE(refusal() == "");
  });
}

TEST_CASE("memory of a device that cannot be exported is copied once, or refused") {
  begin();
  for (const int64_t id : kDevices) {
    const Sample sample(mixed_batch(), kPlain);
    Array array = copy(sample, sim(id));
    const auto never = copy_options(ARROWDEVICE_COPY_NEVER);
    Handle none;
    CHECK(contains(
        refused(ENOTSUP, arrowdevice_array_get_ipc_handle, array.get(), sample.schema.get(), &never, none.out()),
        "is not in memory that other processes can open"));
    const Handle handle = get_handle(array, sample.schema);
    CHECK(handle->copied_bytes > 0);
    array.reset();
    const Opened opened = open_received(received(*handle));
    CHECK(opened.array->device_type == ARROW_DEVICE_EXT_DEV);
    CHECK(opened.array->device_id == id);
    CHECK(difference(sample, *opened.array) == "");
  }
}

TEST_CASE("the memory of a device comes back after the last use of an opened array") {
  begin();
  for (const int64_t id : kDevices) {
    const Pool pool = make_shareable_pool(sim(id));
    const Sample sample(field("l"), kPlain);  // whose copy reads nothing back
    Releases releases;
    Array array = releases.count(copy(*sample.host, *sample.schema, sim(id), 0, nullptr, pool.get()));
    Opened opened = open_received(received(*get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER)));
    array.reset();
    Array home;
    {
      Held engine(kAddresses[1]);  // the target copies
      const auto options = copy_options(ARROWDEVICE_COPY_ASYNC | ARROWDEVICE_COPY_ALWAYS);
      must(arrowdevice_array_to_device, opened.array.get(), opened.schema.get(), sim(kAddresses[1]), &options,
           home.out());
      CHECK(releases.released() == 0);
      engine.resume();
    }
    CHECK(difference(sample, *home) == "");
    CHECK(releases.reach(1));
    CHECK(used_bytes(pool) == 0);
  }
  CHECK(refusal() == "");
}

TEST_CASE("memory of a device comes back at once if opening an array copies it") {
  begin();
  for (const int64_t id : kDevices) {
    const Pool pool = make_shareable_pool(sim(id));
    const Sample sample(mixed_batch(), kPlain);
    Releases releases;
    Array array = releases.count(copy(*sample.host, *sample.schema, sim(id), 0, nullptr, pool.get()));
    const auto options = copy_options(ARROWDEVICE_COPY_ALWAYS);
    const Opened opened = open_received(received(*get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER)), &options);
    array.reset();
    CHECK(releases.reach(1));
    CHECK(used_bytes(pool) == 0);
    CHECK(difference(sample, *opened.array) == "");
  }
  CHECK(refusal() == "");
}

TEST_CASE("a descriptor of another device's memory is refused") {
  begin();
  const Sample sample(mixed_batch(), kPlain);
  Array on_cpu = copy(sample, cpu());
  Array on_device = copy(sample, sim(kDevices[0]));
  const Received of_cpu = received(*get_handle(on_cpu, sample.schema));
  const Received of_device = received(*get_handle(on_device, sample.schema));
  REQUIRE(of_cpu.descriptors.size() == 2);
  REQUIRE(of_device.descriptors.size() == 2);
  const int pipe = of_cpu.numbers()[0];
  int code = 0;
  CHECK(contains(refused_open(of_device.bytes, {pipe, of_cpu.numbers()[1]}, &code), "no memory of a simulated device"));
  CHECK(code == EINVAL);
  CHECK(contains(refused_open(of_cpu.bytes, {pipe, of_device.numbers()[1]}, &code), "is not sealed"));
  CHECK(code == EINVAL);
}

TEST_CASE("memory that a handle has used serves other allocations of a full device") {
  auto configured = configuration();
  for (auto& device : configured.devices) device.memory = 9 << 20;
  begin(configured);
  constexpr int64_t kMost = 4 << 20;
  for (const int64_t id : kDevices) {
    const Sample sample(field("l"), {.rows = kMost / 8});
    {
      Array array = copy(sample, sim(id));
      const Handle handle = get_handle(array, sample.schema);  // copies the array into a pool of the library
      CHECK(handle->copied_bytes >= kMost);
    }
    const Array first = copy(sample, sim(id));
    // A thread of the library releases the handle's copy. Until then, the device is full.
    Array second;
    const auto options = copy_options(0);
    until([&] {
      return arrowdevice_array_copy(sample.host.get(), sample.schema.get(), sim(id), &options, second.out(), nullptr) ==
             0;
    });
    CHECK(difference(sample, *second) == "");
  }
}

TEST_CASE("only memory that is in use is shareable") {
  begin();
  for (const int64_t id : kDevices) {
    const Pool pool = make_shareable_pool(sim(id));
    void* buffer = nullptr;
    must(arrowdevice_buffer_allocate, sim(id), pool.get(), static_cast<arrowdevice_queue*>(nullptr), int64_t{1000},
         &buffer);
    auto& device = arrowdevice::device::Devices::instance().get(ARROW_DEVICE_EXT_DEV, id);
    CHECK(device.shareable_location(buffer).has_value());
    arrowdevice_buffer_free(sim(id), nullptr, buffer);
    must(arrowdevice_pool_trim, pool.get());
    CHECK(!device.shareable_location(buffer).has_value());
  }
}

}  // namespace
