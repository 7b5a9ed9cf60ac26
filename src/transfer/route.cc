// SPDX-License-Identifier: Apache-2.0
#include "transfer/route.h"

#include <cerrno>
#include <string>

#include "backend/device_types.h"
#include "device/devices.h"
#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

// Returns the device that does the work: the target, or the source if the target is host memory. If both are host
// memory, the CPU does the work.
template <typename Device>
Device& worker(Device& source, Device& target) {
  return !target.is_on_host() ? target : !source.is_on_host() ? source : device::Devices::instance().cpu();
}

bool can_work(const device::Queue& queue, const device::Device& source, const device::Device& target) {
  return &queue.device().backend() == &worker(source, target).backend();
}

// Returns true if the CPU copies and the queue belongs to the backend of either device. The copy then runs after the
// queue's work.
bool may_order_host_copy(const device::Queue& queue, const device::Device& source, const device::Device& target) {
  const auto* backend = &queue.device().backend();
  return source.is_on_host() && target.is_on_host() && (backend == &source.backend() || backend == &target.backend());
}

// Returns true if a device type, of which no device is known yet, may be host memory.
bool may_be_on_host(ArrowDeviceType type) {
  const auto* const known = backend::find_device_type(type);
  return known == nullptr || known->may_be_on_host;
}

[[noreturn]] void refuse(const device::Queue& chosen, const std::string& source, const device::Device& target) {
  throw Error(EINVAL, "a queue of " + chosen.device().text() + " cannot copy" +
                          (source.empty() ? source : " from " + source) + " to " + target.text());
}

}  // namespace

void check_queue(const device::Queue& chosen, const device::Device& source, const device::Device& target) {
  if (can_work(chosen, source, target) || may_order_host_copy(chosen, source, target)) return;
  refuse(chosen, source.text(), target);
}

void check_queue(const device::Queue& chosen, ArrowDeviceType source, const device::Device& target) {
  constexpr ArrowDeviceType kUnknown = 0;
  const auto& backend = chosen.device().backend();
  const bool is_targets = &backend == &target.backend();
  if (!target.is_on_host()) {
    if (is_targets) return;
  } else {
    // A queue of the source's backend is valid. If the CPU copies, so is a queue of the target's backend or of the CPU.
    if (source == kUnknown || backend.serves(source)) return;
    if ((is_targets || chosen.device().is_cpu()) && may_be_on_host(source)) return;
  }
  refuse(chosen, source == kUnknown ? std::string() : backend::device_type_text(source), target);
}

void check_pool(const device::Pool& pool, const device::Device& target) {
  if (&pool.device() == &target) return;
  throw Error(EINVAL, "the pool is of " + pool.device().text() + ", not of " + target.text());
}

Route::Route(device::Device& source, device::Device& target, device::Queue* chosen)
    : source_(source),
      target_(target),
      uses_{device::DeviceUse(source), device::DeviceUse(target)},
      source_on_host_(source.is_on_host()),
      target_on_host_(target.is_on_host()) {
  source.check_usable();
  target.check_usable();
  is_staged_ = is_staged(source, target);
  const auto take = [&](device::Device& device, device::QueueLease& lease) {
    lease = device::QueueLease(device);
    return lease.get();
  };
  if (chosen != nullptr) check_queue(*chosen, source, target);
  const bool fits = chosen != nullptr && can_work(*chosen, source, target);
  target_queue_ = fits ? chosen : take(worker(source, target), leases_[0]);
  source_queue_ = is_staged_ ? take(source, leases_[1]) : target_queue_;
  if (chosen != nullptr && !fits) comes_after_ = chosen;
  blocks_on_pageable_ = uses_blocking_memory();
}

bool Route::is_staged(const device::Device& source, const device::Device& target) {
  return !source.is_on_host() && !target.is_on_host() &&
         (device::peer_flags(source, target) & ARROWDEVICE_PEER_COPY) == 0;
}

// Returns true if the copy uses host memory that the driver does not know, and that makes it wait.
bool Route::uses_blocking_memory() const {
  const auto& worker = target_queue_->device();
  if (!worker.blocks_on_pageable()) return false;
  const auto is_unknown = [&](const device::Device& host) { return &host.backend() != &worker.backend(); };
  return (source_on_host_ && is_unknown(source_)) || (target_on_host_ && is_unknown(target_)) ||
         (!target_on_host_ && !has_pinned_staging(target_));  // buffers that the CPU makes are staged
}

void Route::wait_for(const device::ForeignEvent& event, const Deadline& deadline) {
  if (comes_after_ != nullptr) comes_after_->finish_in_time(deadline);
  // The driver would wait for the event without limit when it copies to pageable memory.
  if (source_on_host_ || blocks_on_pageable_) {
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
