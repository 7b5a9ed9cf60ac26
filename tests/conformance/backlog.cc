// SPDX-License-Identifier: Apache-2.0
#include "conformance/backlog.h"

namespace arrowdevice::conformance {

namespace {

constexpr int64_t kSize = 4 << 20;

}  // namespace

Backlog::Backlog(Subject& subject, int copies)
    : bytes_(pattern(kSize)), arrived_(bytes_.size()), queue_(subject.queue(subject.peer())) {
  DeviceBuffer buffer(subject.peer(), kSize);
  for (int i = 0; i < copies; ++i) {
    enqueue(queue_.get(), {region_in(subject.peer(), buffer.get(), 0, bytes_.data(), kSize)});
  }
  enqueue(queue_.get(), {region_out(arrived_.data(), subject.peer(), buffer.get(), 0, kSize)});
  Owned<ArrowArray> array = array_over(std::move(buffer), kSize / 4, count_releases());
  must(arrowdevice_array_export, subject.peer(), array.get(), queue_.get(), last_.out());
}

// Waits for the copies, because they read and write memory of this object.
Backlog::~Backlog() { arrowdevice_queue_finish(queue_.get(), ARROWDEVICE_NO_TIMEOUT, nullptr); }

void Backlog::hold_up(arrowdevice_queue* queue) const {
  must(arrowdevice_queue_wait_array, queue, last_.get(), nullptr);
}

}  // namespace arrowdevice::conformance
