// SPDX-License-Identifier: Apache-2.0
#include "conformance/backlog.h"

namespace arrowdevice::conformance {

namespace {

// Returns the device of the host memory that the device copies fastest.
arrowdevice_device* staging_of(arrowdevice_device* device) {
  const auto info = describe(device);
  const bool has_own = info.staging_type != 0;
  return output_of(arrowdevice_device_find_by_id, has_own ? info.staging_type : ARROW_DEVICE_CPU,
                   has_own ? info.device_id : int64_t{-1});
}

}  // namespace

Backlog::Backlog(Subject& subject, int copies)
    : expected_(pattern(kSize)),
      bytes_(staging_of(subject.peer()), kSize),
      arrived_(staging_of(subject.peer()), kSize),
      queue_(subject.queue(subject.peer())) {
  std::ranges::copy(expected_, static_cast<uint8_t*>(bytes_.get()));
  DeviceBuffer buffer(subject.peer(), kSize);
  for (int i = 0; i < copies; ++i) {
    enqueue(queue_.get(), {region_in(subject.peer(), buffer.get(), 0, bytes_.get(), kSize)});
  }
  enqueue(queue_.get(), {region_out(arrived_.get(), subject.peer(), buffer.get(), 0, kSize)});
  Owned<ArrowArray> array = array_over(std::move(buffer), kSize / 4, count_releases());
  must(arrowdevice_array_export, subject.peer(), array.get(), queue_.get(), last_.out());
}

// Waits for the copies, because they read and write memory of this object.
Backlog::~Backlog() { arrowdevice_queue_finish(queue_.get(), ARROWDEVICE_NO_TIMEOUT, nullptr); }

void Backlog::hold_up(arrowdevice_queue* queue) const {
  must(arrowdevice_queue_wait_array, queue, last_.get(), nullptr);
}

}  // namespace arrowdevice::conformance
