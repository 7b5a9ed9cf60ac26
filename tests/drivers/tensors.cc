// SPDX-License-Identifier: Apache-2.0
// Tests the tensors that the Python package gives to compiled packages. Their consumers work on the default stream of a
// GPU, and do not wait for that work before they delete a tensor. Each case has its own process.
#include <arrowdevice/arrowdevice.h>
#include <arrowdevice/dlpack.h>

#include "drivers/gate.h"
#include "drivers/trips.h"
#include "support/calls.h"
#include "support/catch.h"
#include "support/handles.h"

extern "C" {
#include "arrowdevice/guard.h"
#include "arrowdevice/tensors.h"

// The guard of foreign callbacks, which these tensors have not.
int guard_enter(void) { return 1; }
void guard_leave(void) {}
}

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
using namespace drivers;               // NOLINT: what every line of these tests is written with

constexpr int64_t kRows = 512;
constexpr int64_t kSize = kRows * 8;

Queue default_stream() {
  const auto native = sized<arrowdevice_native_queue>();
  return Queue(output_of(arrowdevice_queue_wrap, gpu(), &native));
}

// Copies the bytes of a tensor within the GPU, as a kernel of a consumer does.
void use(const Queue& queue, void* data, void* result) {
  const arrowdevice_copy_region region{gpu(), result, 0, gpu(), data, 0, kSize, 0};
  must(arrowdevice_queue_copy, queue.get(), &region, int64_t{1});
}

void* allocate(const Queue& queue) {
  return output_of(arrowdevice_buffer_allocate, gpu(), nullptr, queue.get(), kSize);
}

int64_t used_bytes() {
  auto* const pool = output_of(arrowdevice_device_get_pool, gpu());
  return output_of(arrowdevice_pool_get_stats, pool).used_bytes;
}

TEST_CASE("the last tensor keeps its memory until the default stream's work has finished") {
  CHECK(in_limited_child([] {
          const HostCase numbers{"numbers", field("l").not_null(), {.rows = kRows}};
          const auto schema = numbers.schema();
          Owned<ArrowDeviceArray> array = on_gpu(numbers);
          const int64_t with_array = used_bytes();
          auto* const tensor =
              output_of(arrowdevice_dlpack_export, array.get(), schema.get(), static_cast<arrowdevice_queue*>(nullptr));
          Owned<ArrowDeviceArray> owner = output_of(arrowdevice_array_share, array.get());
          shared_tensor* const shared =
              share_tensor(reinterpret_cast<versioned_tensor*>(tensor), owner.get(), default_stream().release());
          versioned_tensor* const given = owner_of_shared(shared);
          array.reset();
          drop_shared(shared);

          const Queue stream = default_stream();
          void* const result = allocate(stream);
          const int64_t before = used_bytes();
          hold();
          use(stream, given->tensor.data, result);
          given->deleter(given);
          expect(used_bytes() == before, "the memory was freed while a kernel could use it");
          resume();
          arrowdevice_buffer_free(gpu(), stream.get(), result);
          must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
          expect(used_bytes() < with_array, "the memory was not freed");
          trim_all();
        }) == "");
}

TEST_CASE("memory for a consumer is freed behind the default stream's work") {
  CHECK(in_limited_child([] {
          int64_t shape[] = {kRows};
          tensor prototype{};
          prototype.device_type = vendor().device;
          prototype.ndim = 1;
          prototype.dtype_bits = 64;
          prototype.dtype_lanes = 1;
          prototype.shape = shape;
          versioned_tensor* made = nullptr;
          const exchange_api* const api = exchange_functions(nullptr, nullptr, nullptr);
          expect(api->allocate(&prototype, &made, nullptr, nullptr) == 0, "no memory");

          {
            const Queue stream = default_stream();
            const Queue other(output_of(arrowdevice_queue_create, gpu()));
            void* const result = allocate(stream);
            void* const data = made->tensor.data;
            hold();
            use(stream, data, result);
            made->deleter(made);
            void* const next = allocate(other);
            expect(next != data, "another queue got the memory while a kernel could use it");
            resume();
            must(arrowdevice_queue_finish, stream.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
            for (void* const one : {next, result}) arrowdevice_buffer_free(gpu(), nullptr, one);
          }
          must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
          expect(used_bytes() == 0, "the memory was not freed");
          trim_all();
        }) == "");
}

}  // namespace
