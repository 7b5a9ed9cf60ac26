// SPDX-License-Identifier: Apache-2.0
#include "conformance/backlog.h"

namespace arrowdevice::conformance {

namespace {

constexpr int64_t kSize = 4 << 20;

// A peer may be in another context, whose events the driver's own waits cannot name.
arrowdevice_device* place_of(const Subject& subject) {
  return subject.peer() == nullptr || Gate::has_own_events(subject.info()) ? subject.device() : subject.peer();
}

}  // namespace

Backlog::Backlog(Subject& subject, int copies)
    : bytes_(pattern(kSize)),
      source_(place_of(subject), bytes_),
      arrived_(place_of(subject), kSize),
      queue_(subject.queue(place_of(subject))) {
  arrowdevice_device* const place = place_of(subject);
  DeviceBuffer buffer(place, kSize);
  if (Gate::is_offered(subject.info())) gate_.emplace(place, queue_.get());
  for (int i = 0; i < copies; ++i) enqueue(queue_.get(), {region_in(place, buffer.get(), 0, source_.data(), kSize)});
  enqueue(queue_.get(), {region_out(arrived_.data(), place, buffer.get(), 0, kSize)});
  const bool has_own_events = Gate::has_own_events(subject.info());
  if (has_own_events) gate_->mark_end(queue_.get());
  Owned<ArrowArray> array = array_over(std::move(buffer), kSize / 4, count_releases());
  // An export without events waits for its queue.
  must(arrowdevice_array_export, place, array.get(), has_own_events ? nullptr : queue_.get(), last_.out());
}

// Waits for the copies, because they read and write memory of this object.
Backlog::~Backlog() {
  open();
  arrowdevice_queue_finish(queue_.get(), ARROWDEVICE_NO_TIMEOUT, nullptr);
}

void Backlog::hold_up(arrowdevice_queue* queue) const {
  if (gate_ && gate_->has_mark()) return gate_->hold_until_end(queue);
  must(arrowdevice_queue_wait_array, queue, last_.get(), nullptr);
}

}  // namespace arrowdevice::conformance
