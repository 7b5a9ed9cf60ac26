// SPDX-License-Identifier: Apache-2.0
// Devices that an application wraps and unwraps. The unwrap fails while an object of the device is alive,
// and is final when it succeeds.
#include <cerrno>

#include "program.h"
#include "spy.h"

namespace {

using namespace stress;  // NOLINT: what every line of these programs is written with
namespace control = arrowdevice::sim::control;

constexpr int64_t kDevices[] = {0, 2};  // with addresses, with handles

arrowdevice_device* wrap(int64_t id, void* context) {
  auto native = sized<arrowdevice_native_device>();
  native.context = context;
  return output_of(arrowdevice_device_wrap, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, id, &native);
}

void expect_unwrapped(arrowdevice_device* device, const SampleRows& sample, const ArrowDeviceArray& on_cpu) {
  arrowdevice_queue* queue = nullptr;
  must_fail(ENODEV, arrowdevice_queue_create, device, &queue);
  const arrowdevice_native_queue native_queue{.struct_size = sizeof native_queue, .family = 0, .queue = nullptr};
  must_fail(ENODEV, arrowdevice_queue_wrap, device, &native_queue, &queue);
  arrowdevice_pool* pool = nullptr;
  must_fail(ENODEV, arrowdevice_pool_create, device, nullptr, &pool);
  must_fail(ENODEV, arrowdevice_device_get_pool, device, &pool);
  must_fail(ENODEV, arrowdevice_device_set_pool, device, nullptr);
  void* buffer = nullptr;
  must_fail(ENODEV, arrowdevice_buffer_allocate, device, nullptr, nullptr, 100, &buffer);
  must_fail(ENODEV, arrowdevice_sub_buffer_create, device, &buffer, 0, 1, &buffer);
  int64_t free_bytes = 0, total_bytes = 0;
  must_fail(ENODEV, arrowdevice_device_get_memory_info, device, &free_bytes, &total_bytes);
  auto native = sized<arrowdevice_native_device>();
  must_fail(ENODEV, arrowdevice_device_get_native, device, &native);
  uint32_t reach = 0;
  must_fail(ENODEV, arrowdevice_device_get_peer_flags, device, cpu(), &reach);
  must_fail(ENODEV, arrowdevice_device_get_peer_flags, cpu(), device, &reach);
  auto info = sized<arrowdevice_device_info>();
  must_fail(ENODEV, arrowdevice_device_get_info, device, &info);
  Array out;
  must_fail(ENODEV, arrowdevice_array_copy, &on_cpu, sample.schema.get(), device, nullptr, out.out());
  Array moved = sample.array();
  must_fail(ENODEV, arrowdevice_array_to_device, moved.get(), sample.schema.get(), device, nullptr, out.out());
  Owned<ArrowArray> host = make_array(generate(sample.type, sample.knobs), sample.ledger);
  must_fail(ENODEV, arrowdevice_array_export, device, host.get(), nullptr, out.out());
  must_fail(ENODEV, arrowdevice_device_unwrap, device, ARROWDEVICE_NO_TIMEOUT);
}

void unwrapping() {
  register_spy();
  const SampleRows sample(batch());
  const Array host = sample.array();
  for (const int64_t id : kDevices) {
    char context = 0;
    auto* const device = wrap(id, &context);
    check(device != sim(id), "a context of the application is the library's device");
    check(wrap(id, &context) == device, "the same context is another device");

    Array array = copy(*host, *sample.schema, device);
    Array part = output_of(arrowdevice_array_slice, array.get(), sample.schema.get(), 2, 3);
    array.reset();
    must(arrowdevice_device_unwrap, device, ARROWDEVICE_NO_TIMEOUT);  // the first of two unwraps
    check_same(difference(sample, *part, 2));
    must_fail(EBUSY, arrowdevice_device_unwrap, device, ARROWDEVICE_POLL);
    check_same(difference(sample, *part, 2));  // unchanged
    auto* view = output_of(arrowdevice_array_import, part.get(), sample.schema.get(), nullptr);
    must_fail(EBUSY, arrowdevice_device_unwrap, device, ARROWDEVICE_POLL);
    arrowdevice_view_release(view);

    auto* const queue = output_of(arrowdevice_queue_create, device);
    must_fail(EBUSY, arrowdevice_device_unwrap, device, ARROWDEVICE_POLL);
    auto* const pool = output_of(arrowdevice_pool_create, device, nullptr);
    arrowdevice_queue_destroy(queue);
    must_fail(EBUSY, arrowdevice_device_unwrap, device, ARROWDEVICE_POLL);
    arrowdevice_pool_destroy(pool);
    auto* buffer = output_of(arrowdevice_buffer_allocate, device, nullptr, nullptr, 100);
    must_fail(EBUSY, arrowdevice_device_unwrap, device, ARROWDEVICE_POLL);
    arrowdevice_buffer_free(device, nullptr, buffer);

    must(arrowdevice_device_unwrap, device, ARROWDEVICE_NO_TIMEOUT);
    expect_unwrapped(device, sample, *host);
    // The same handles become a new device when they are wrapped again. The published device is not
    // affected.
    auto* const again = wrap(id, &context);
    check(again != device, "an unwrapped device came back");
    check_same(difference(sample, *copy(*host, *sample.schema, again)));
    check_same(difference(sample, *copy(*host, *sample.schema, sim(id))));
    must(arrowdevice_device_unwrap, again, ARROWDEVICE_NO_TIMEOUT);
    expect_unwrapped(again, sample, *host);
  }
  check_equal(control::refused(), 0, "refused calls");
}

// The unwrap waits for the device's pending work.
void unwrapping_waits_for_deferred_work() {
  register_spy();
  const SampleRows sample(batch());
  for (const int64_t id : kDevices) {
    char context = 0;
    auto* const device = wrap(id, &context);
    // The wrapped device waits for a held device.
    const Array host = sample.array();
    control::hold(id);
    const Array pending = copy(*host, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC);
    auto* const queue = output_of(arrowdevice_queue_create, device);
    must(arrowdevice_queue_wait_array, queue, pending.get(), nullptr);
    Array behind = copy(*host, *sample.schema, device, ARROWDEVICE_COPY_ASYNC, queue);
    must(arrowdevice_array_release_after, behind.get(), queue);
    arrowdevice_queue_destroy(queue);
    must_fail(ETIMEDOUT, arrowdevice_device_unwrap, device, ARROWDEVICE_POLL);
    on_threads(2, [&](int i) {
      if (i == 0) return control::resume(id);
      must(arrowdevice_device_unwrap, device, ARROWDEVICE_NO_TIMEOUT);
    });
    expect_unwrapped(device, sample, *host);
  }
  check_equal(control::refused(), 0, "refused calls");
}

constexpr Scenario kScenarios[] = {
    {"a device is unwrapped once all of it is released, then it is not there", unwrapping},
    {"unwrapping a device waits for the work behind which its arrays are released", unwrapping_waits_for_deferred_work},
};

}  // namespace

int main(int argc, char** argv) { return play(kScenarios, argc, argv); }
