// SPDX-License-Identifier: Apache-2.0
// Tests a device that is lost during work.
#include "drivers/opencl/application.h"
#include "drivers/opencl/faults.h"

using namespace opencl_test;  // NOLINT
namespace faults = opencl_faults;

TEST_CASE("a device that is lost is EIO, then and from then on, and inputs are kept") {
  begin_opencl();
  Sample sample(mixed_batch());
  for (long nth = 1; nth <= 3; ++nth) {
    INFO("lost with submission " << nth);
    const Array there = copy(sample, opencl());
    faults::reset();
    faults::plan_loss(nth);
    Array out;
    int code = 0;
    arrowdevice_error error{};
    // A copy to or from the device takes at most two submissions.
    for (int i = 0; i < 3 && code == 0; ++i) {
      code = arrowdevice_array_copy(there.get(), sample.schema.get(), cpu(), nullptr, out.out(), &error);
    }
    CHECK(code == EIO);
    CHECK(contains(error.message, "CL_DEVICE_NOT_AVAILABLE (-2)"));
    CHECK(out.released());
    CHECK(there->array.release != nullptr);
    // Every call now fails at once without side effects.
    arrowdevice_queue* queue = nullptr;
    CHECK(arrowdevice_queue_create(opencl(), &queue, nullptr) == EIO);
    void* buffer = nullptr;
    CHECK(arrowdevice_buffer_allocate(opencl(), nullptr, nullptr, 1 << 24, &buffer, nullptr) == EIO);
    must_fail(EIO, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), opencl(), nullptr, out.out());
    must_fail(EIO, arrowdevice_array_copy, there.get(), sample.schema.get(), cpu(), nullptr, out.out());
    faults::reset();
    // When the driver works again, the array is usable again.
    CHECK(difference(sample, *there) == "");
    CHECK(difference(sample, *copy(sample, opencl())) == "");
  }
}
