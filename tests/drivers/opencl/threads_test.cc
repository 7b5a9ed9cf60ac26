// SPDX-License-Identifier: Apache-2.0
// Eight threads work on queues of the same device.
#include "drivers/opencl/application.h"

using namespace opencl_test;  // NOLINT

TEST_CASE("eight threads copy ten thousand batches on queues of their own") {
  begin_opencl();
  copy_on_threads(opencl());
  settle();
  CHECK(stats(default_pool(opencl())).used_bytes == 0);
}

TEST_CASE("eight threads make queues of one device wait for events of another context") {
  begin_opencl();
  constexpr int kTimes = 250;
  const ClContext context = make_context();
  const ClBuffer buffer = make_buffer(context.get(), 64);
  auto* const device = opencl();
  on_threads(8, [&](int) {
    for (int time = 0; time < kTimes; ++time) {
      cl_int code = CL_SUCCESS;
      ClEvent event = ClEvent::wrap(api().clCreateUserEvent(context.get(), &code));
      expect(code == CL_SUCCESS, "no event could be made");
      const Array array = array_over(buffer.get(), 64, event.place());
      const Queue queue = make_queue(device);
      must(arrowdevice_queue_wait_array, queue.get(), array.get(), nullptr);
      api().clSetUserEventStatus(event.get(), CL_COMPLETE);
      must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
    }
  });
}
