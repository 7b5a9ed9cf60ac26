// SPDX-License-Identifier: Apache-2.0
#include "conformance/backlog.h"

#include <algorithm>

namespace arrowdevice::conformance {

namespace {

constexpr int64_t kSize = 4 << 20;

arrowdevice_device* place_of(const Subject& subject) {
  return subject.peer() != nullptr ? subject.peer() : subject.device();
}

// Returns pinned memory of the driver for the source and the target of the copies, or none.
std::optional<DeviceBuffer> allocate_pinned(const arrowdevice_device_info& info) {
  if (!Delay::is_offered(info) || info.staging_type == 0) return std::nullopt;
  auto* const pinned = output_of(arrowdevice_device_find_by_id, info.staging_type, int64_t{0});
  return std::make_optional<DeviceBuffer>(pinned, 2 * kSize);
}

}  // namespace

Backlog::Backlog(Subject& subject, int copies)
    : bytes_(pattern(kSize)), pinned_(allocate_pinned(subject.info())), queue_(subject.queue(place_of(subject))) {
  arrowdevice_device* const place = place_of(subject);
  DeviceBuffer buffer(place, kSize);
  const unsigned char* source = bytes_.data();
  if (pinned_) {
    auto* const memory = static_cast<unsigned char*>(pinned_->get());
    std::ranges::copy(bytes_, memory);
    std::fill_n(memory + kSize, kSize, static_cast<unsigned char>(0));
    source = memory;
  } else {
    pageable_.resize(kSize);
  }
  if (Delay::is_offered(subject.info())) delay_.emplace(place, queue_.get());
  for (int i = 0; i < copies; ++i) enqueue(queue_.get(), {region_in(place, buffer.get(), 0, source, kSize)});
  auto* const target = const_cast<unsigned char*>(arrived().data());
  enqueue(queue_.get(), {region_out(target, place, buffer.get(), 0, kSize)});
  Owned<ArrowArray> array = array_over(std::move(buffer), kSize / 4, count_releases());
  must(arrowdevice_array_export, place, array.get(), queue_.get(), last_.out());
}

// Waits for the copies, because they read and write memory of this object.
Backlog::~Backlog() { arrowdevice_queue_finish(queue_.get(), ARROWDEVICE_NO_TIMEOUT, nullptr); }

void Backlog::hold_up(arrowdevice_queue* queue) const {
  must(arrowdevice_queue_wait_array, queue, last_.get(), nullptr);
}

std::span<const unsigned char> Backlog::arrived() const noexcept {
  if (pinned_) return {static_cast<const unsigned char*>(pinned_->get()) + kSize, kSize};
  return pageable_;
}

bool Backlog::has_arrived() const { return std::ranges::equal(arrived(), bytes_); }

}  // namespace arrowdevice::conformance
