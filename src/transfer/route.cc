// SPDX-License-Identifier: Apache-2.0
#include "transfer/route.h"

#include <cerrno>

#include "device/devices.h"

namespace arrowdevice::transfer {
namespace {

bool is_on_host(const device::Device& device) { return device.has_addresses() && device.is_host_readable(); }

}  // namespace

Route::Route(device::Device& source, device::Device& target, device::Queue* chosen)
    : source_(source),
      target_(target),
      uses_{device::DeviceUse(source), device::DeviceUse(target)},
      source_on_host_(is_on_host(source)),
      target_on_host_(is_on_host(target)) {
  source.check_usable();
  target.check_usable();
  is_staged_ = is_staged(source, target);
  const auto take = [&](device::Device& device, device::QueueLease& lease) {
    lease = device::QueueLease(device);
    return lease.get();
  };
  // Who does the work: the target, the source where the target is only memory to it, the CPU where both are.
  auto& worker = !target_on_host_ ? target : !source_on_host_ ? source : device::Devices::instance().cpu();
  const bool fits = chosen != nullptr && &chosen->device().backend() == &worker.backend();
  if (chosen != nullptr && !fits && !may_order_host_copy(*chosen)) {
    throw Error(EINVAL, "a queue of " + chosen->device().text() + " cannot copy from " + source.text() + " to " +
                            target.text());
  }
  target_queue_ = fits ? chosen : take(worker, leases_[0]);
  source_queue_ = is_staged_ ? take(source, leases_[1]) : target_queue_;
  if (chosen != nullptr && !fits) comes_after_ = chosen;
}

bool Route::is_staged(const device::Device& source, const device::Device& target) {
  return !is_on_host(source) && !is_on_host(target) && (device::reach(source, target) & ARROWDEVICE_REACH_COPY) == 0;
}

// Where the CPU copies, a queue of either device says what to come after.
bool Route::may_order_host_copy(const device::Queue& queue) const noexcept {
  const auto* backend = &queue.device().backend();
  return source_on_host_ && target_on_host_ && (backend == &source_.backend() || backend == &target_.backend());
}

void Route::wait_for(const device::ForeignEvent& event, const Deadline& deadline) {
  if (comes_after_ != nullptr && !comes_after_->finish(deadline.left())) {
    throw Error(ETIMEDOUT, "the queue's work on " + comes_after_->device().text() + " is not done in time");
  }
  if (source_on_host_) {
    event.wait(deadline.left());
  } else {
    event.wait_on(*source_queue_, deadline.left());
  }
}

bool Route::drain() noexcept {
  const bool source_drained = source_queue_->drain();
  return (target_queue_ == source_queue_ || target_queue_->drain()) && source_drained;
}

void Route::abandon() noexcept {
  for (auto& lease : leases_) lease.abandon();
}

}  // namespace arrowdevice::transfer
