// SPDX-License-Identifier: Apache-2.0
// Copies on a command list with pending work of an application. Intel's driver waits for such a list in the call when
// it copies pageable memory, without limit. Each case has its own process, which an alarm ends if a call hangs.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>

#include "drivers/level_zero/application.h"
#include "drivers/trips.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/reader.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::must;

constexpr int64_t kShort = 20'000'000;  // nanoseconds
constexpr size_t kSize = 64;

arrowdevice_device* gpu() { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_ONEAPI, int64_t{0}); }
arrowdevice_device* cpu() { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, int64_t{-1}); }

int copy(ArrowDeviceArray* array, const HostCase& one, arrowdevice_device* to, arrowdevice_queue* queue,
         int64_t timeout_ns, Owned<ArrowDeviceArray>& out) {
  auto options = sized<arrowdevice_copy_options>();
  options.queue = queue;
  options.timeout_ns = timeout_ns;
  return arrowdevice_array_copy(array, one.schema().get(), to, &options, out.out(), nullptr);
}

// A list of the application, and a queue of the library over it.
class WrappedList {
 public:
  explicit WrappedList(bool is_in_order)
      : context_(static_cast<ze_context_handle_t>(output_of(arrowdevice_device_get_native, gpu()).context)),
        list_(level_zero::create_list(context_, 0, is_in_order)),
        memory_(level_zero::allocate(context_, 0, 2 * kSize)) {
    auto native = sized<arrowdevice_native_queue>();
    native.queue = list_;
    arrowdevice_queue* wrapped = nullptr;
    must(arrowdevice_queue_wrap, gpu(), &native, &wrapped);
    queue_.reset(wrapped);
  }
  ~WrappedList() {
    queue_.reset();
    level_zero::finish(context_, list_);
    level_zero::ze().zeCommandListDestroy(list_);
    level_zero::ze().zeMemFree(context_, memory_);
  }
  WrappedList(const WrappedList&) = delete;
  WrappedList& operator=(const WrappedList&) = delete;

  arrowdevice_queue* queue() const { return queue_.get(); }
  void append_work() const { level_zero::append_copy(list_, static_cast<char*>(memory_) + kSize, memory_, kSize); }

 private:
  ze_context_handle_t const context_;
  ze_command_list_handle_t const list_;
  void* const memory_;
  Queue queue_;
};

TEST_CASE("time-outs hold while an application's command list has pending work") {
  const HostCase& one = find_case("record batch");
  for (const bool is_in_order : {true, false}) {
    CHECK(in_limited_child([&] {
            {
              const WrappedList list(is_in_order);
              Owned<ArrowArray> array = one.array(Ledger());
              Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, array.get());
              Owned<ArrowDeviceArray> there, out;
              expect(copy(host.get(), one, gpu(), nullptr, 0, there) == 0, "not copied to the GPU");
              level_zero::hold();
              list.append_work();
              expect(copy(host.get(), one, gpu(), list.queue(), kShort, out) == ETIMEDOUT,
                     "the copy to the GPU has no limit");
              expect(copy(there.get(), one, cpu(), list.queue(), kShort, out) == ETIMEDOUT,
                     "the copy from the GPU has no limit");
              expect(copy(there.get(), one, gpu(), list.queue(), kShort, out) == ETIMEDOUT,
                     "the copy on the GPU has no limit");
              level_zero::resume();
              expect(copy(there.get(), one, cpu(), list.queue(), 0, out) == 0, "not copied later");
              const auto twin = one.array(Ledger());
              const auto changed = difference(*one.schema(), *twin, 0, *one.schema(), out->array, 0, twin->length);
              expect(changed.empty(), "the values changed: " + changed);
            }
            drivers::trim_all();
          }) == "");
  }
}

}  // namespace
