// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_run.h"

#include <cerrno>
#include <exception>

#include "base/log.h"
#include "device/deferred.h"
#include "transfer/early_end.h"
#include "transfer/staging.h"

namespace arrowdevice::transfer {

// Staging memory, until the copy has finished.
struct DeferredStaging final : public device::Deferred {
  InFlight in_flight;
  LaterWork later;
};

namespace {

// Objects that a copy still uses after its call has ended early.
struct LeftRunning final : public device::Deferred {
  explicit LeftRunning(device::Device& of_source) : use(of_source) {}
  // The second queue of a staged copy uses the objects too.
  ~LeftRunning() override { device::DeferredWork::instance().defer(std::move(then)); }

  const device::DeviceUse use;
  std::unique_ptr<CopyMemory> memory;
  std::unique_ptr<DeferredStaging> staging;
  std::unique_ptr<array::OwnedArray> source;
  std::unique_ptr<LeftRunning> then;
};

}  // namespace

CopyRun::CopyRun(const CopyRequest& request)
    : request_(request),
      route_(request.source, request.target, request.queue),
      event_of_source_(request.source, request.sync_event) {}

CopyRun::~CopyRun() = default;

InFlight* CopyRun::in_flight() noexcept { return staging_ == nullptr ? nullptr : &staging_->in_flight; }

bool CopyRun::is_async() const { return request_.async && target().publishes_events(); }

bool CopyRun::queue_is_targets() const { return &route_.target_queue().device() == &target(); }

std::shared_ptr<device::Event> CopyRun::run(CopyContent& content, ArrowDeviceArray* out) {
  // Allocated first, because the memory of submitted work must have an owner.
  const bool is_by_cpu = route_.source_on_host() && route_.target_on_host();
  if (!is_by_cpu) staging_ = std::make_unique<DeferredStaging>();
  bool submitted = false;
  try {
    copy(content, submitted);
  } catch (const Error& error) {
    const bool leaves = submitted && ends_early(error, request_.deadline);
    if (!leaves || !leave_running()) clean_up(submitted);
    route_.abandon();
    throw;
  } catch (...) {
    clean_up(submitted);
    route_.abandon();
    throw;
  }
  // If only the wait for the producer was submitted, the next user of the queue must not be delayed by it.
  if (!submitted && request_.sync_event != nullptr) route_.abandon();
  log_.copied(route_, size_, in_flight(), sync_event_ != nullptr);
  publish(content.output(), out);
  return sync_event_ != nullptr ? event_ : nullptr;
}

// Sets `submitted` when work may run that uses the memory.
void CopyRun::copy(CopyContent& content, bool& submitted) {
  wait_for_source(content);
  size_ = content.place();
  allocate();
  const bool has_bytes = size_.bytes > 0;
  if (has_bytes) allocate_staging_memory();
  content.build(*owner_, in_flight());
  if (!has_bytes) return;
  submitted = true;
  const bool has_arrived = content.submit(owner_->memory().allocation.buffer(), in_flight());
  finish(content, has_arrived);
}

// Waits for the source, or makes the queue wait. The CPU waits first in these cases:
// - with a deadline, if the call waits for the copy later, at its end or between pieces
// - if sizes of variadic buffers are in host memory, because they are read before the submission
// - if the driver would wait in the submission, which has no limit
void CopyRun::wait_for_source(const CopyContent& content) {
  if (request_.pool != nullptr) check_pool(*request_.pool, target());
  route_.wait_for(event_of_source_, request_.deadline);
  const bool is_bounded = request_.deadline.has_limit() && (!is_async() || route_.is_staged());
  if (is_bounded || content.reads_sizes_on_host()) event_of_source_.wait(request_.deadline.left());
  const bool blocks = route_.blocks_on_pageable();
  // A queue of the library has waited for no more than the source.
  if (request_.queue == nullptr || !(is_bounded || blocks) || !route_.target_queue().has_work_of_others()) return;
  const bool can_stage = is_async() && route_.source_on_host() && has_pinned_staging(target());
  route_.stage_host_memory(blocks && can_stage);
  if (!route_.stages_host_memory()) route_.target_queue().finish_in_time(request_.deadline);
}

// Allocates the staging memory before anything is submitted. Without enough of it, waits for the queue.
void CopyRun::allocate_staging_memory() {
  if (!route_.stages_host_memory()) return;
  try {
    staging_->in_flight.staging.push_back(allocate_staging(target(), size_.bytes + kPaddedTo));
  } catch (const Error& error) {
    if (error.code() != ENOMEM) throw;
    log(LogLevel::kInfo, "an asynchronous copy waits for its queue, because there is no pinned memory for it");
    route_.stage_host_memory(false);
    route_.target_queue().finish_in_time(request_.deadline);
  }
}

// Lets the submitted work run, with its memory and the source. Returns false if that is not possible.
bool CopyRun::leave_running() noexcept {
  try {
    auto left = std::make_unique<LeftRunning>(request_.source);
    left->source = hold(request_.moved);
    left->after = route_.target_queue().record();
    if (route_.is_staged()) {
      auto first = std::make_unique<LeftRunning>(request_.source);
      first->after = route_.source_queue().record();
      first->then = std::move(left);
      left = std::move(first);
    }
    auto& last = left->then != nullptr ? *left->then : *left;
    if (owner_ != nullptr) last.memory = owner_->take_memory();
    last.staging = std::move(staging_);
    device::DeferredWork::instance().defer(std::move(left));
    return true;
  } catch (...) {
    return false;
  }
}

void CopyRun::clean_up(bool submitted) noexcept {
  if (!submitted) order_memory();
  if (submitted && !route_.drain()) abandon_memory();
}

// Makes unused memory wait for the queue that allocated it.
void CopyRun::order_memory() noexcept {
  try {
    if (owner_ != nullptr) owner_->memory().allocation.order_after(route_.target_queue());
  } catch (const std::exception& error) {
    log(LogLevel::kError, error.what());
  }
}

// Abandons the memory for good, because the library cannot tell when the device has finished with it.
void CopyRun::abandon_memory() noexcept {
  device::DeferredWork::abandon(owner_->take_memory());
  if (staging_ != nullptr) device::DeferredWork::abandon(std::move(staging_));
}

void CopyRun::allocate() {
  owner_ = std::make_shared<CopyOwner>(std::make_unique<CopyMemory>(target()));
  if (size_.bytes == 0) return;
  const auto pool = request_.pool != nullptr ? request_.pool : target().pool();
  owner_->memory().allocation =
      pool->allocate(queue_is_targets() ? &route_.target_queue() : nullptr, size_.bytes, request_.holder);
}

// Finishes the copy. Waits for it, unless the caller accepts an event instead.
void CopyRun::finish(CopyContent& content, bool has_arrived) {
  if (!has_arrived) event_ = route_.target_queue().record();
  const bool may_return_early =
      !has_arrived && is_async() && !content.needs_adjusting() && &event_->device().backend() == &target().backend();
  if (may_return_early) return return_early();
  if (!has_arrived && !event_->wait(request_.deadline.left())) throw Error(ETIMEDOUT, kLate);
  if (!route_.target_on_host() || route_.source_on_host()) return;
  content.adjust(static_cast<uint8_t*>(owner_->memory().allocation.buffer()));
}

// Publishes the event of a copy that runs on.
void CopyRun::return_early() {
  sync_event_ = event_->publish();
  owner_->event = event_;
  owner_->memory().after = event_;
  // The order of a wrapped queue is not known: it may be another queue on each thread.
  const auto& queue = route_.target_queue();
  const bool is_in_order = queue_is_targets() && owner_->memory().allocation.may_be_reused_in_order();
  if (is_in_order && !queue.is_wrapped()) owner_->memory().queue = queue.id();
  if (staging_ != nullptr) {
    staging_->after = event_;
    staging_->later.begin();
  }
}

void CopyRun::publish(array::Output& output, ArrowDeviceArray* out) noexcept {
  if (staging_ != nullptr) device::DeferredWork::instance().defer(std::move(staging_));
  *out = ArrowDeviceArray{};
  out->device_type = target().type();
  out->device_id = target().published_id();
  out->sync_event = sync_event_;
  output.publish(std::move(owner_), &out->array);
}

}  // namespace arrowdevice::transfer
