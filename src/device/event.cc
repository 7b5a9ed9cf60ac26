// SPDX-License-Identifier: Apache-2.0
#include "device/event.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include "backend/device_types.h"
#include "base/interrupt.h"
#include "base/trace.h"
#include "device/queue.h"

namespace arrowdevice::device {

Event::~Event() {
  if (!device_.is_usable()) return;
  if (void* const published = published_.load()) device_.published_events().remove(published);
  device_.backend().table().event_destroy(handle_);
}

bool Event::is_ready() const {
  if (fired_.load(std::memory_order_acquire)) return true;
  device_.check_usable();
  int ready = 0;
  device_.backend().call("event_query", device_.backend().table().event_query, handle_, &ready);
  if (ready != 0) fired_.store(true, std::memory_order_release);
  return ready != 0;
}

bool Event::wait(int64_t timeout_ns) const {
  if (timeout_ns < 0 || fired_.load(std::memory_order_acquire)) return is_ready();
  Counters::add(device_.counters().host_waits, 1);
  trace::Span span("wait", "wait for an event", trace::kLeastWaitNs);
  const bool fired = interrupt::wait_in_slices(timeout_ns, [this](int64_t slice) { return wait_idly(slice); });
  span.end([&] { return trace::Facts().add("device", device_.text()).add_flag("fired", fired); });
  return fired;
}

bool Event::wait_idly(int64_t timeout_ns) const {
  device_.check_usable();
  const auto& backend = device_.backend();
  const bool fired = backend.try_call(ETIMEDOUT, "event_wait", backend.table().event_wait, handle_, timeout_ns);
  if (fired) fired_.store(true, std::memory_order_release);
  return fired;
}

bool Event::has_ended() const noexcept {
  // Failed work no longer uses its memory. Each query reports the failure again, with EIO. A query that fails with
  // another code, or only once, or because `exit` has begun meanwhile, does not tell if the work has ended.
  constexpr int kAttempts = 2;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    try {
      return is_ready();
    } catch (const Error& e) {
      if (!device_.is_usable()) return false;
      if (e.code() != EIO) {
        device_.report_unknown_work(e);
        return false;
      }
    } catch (...) {
      return false;  // no memory for the error
    }
  }
  return true;
}

void Event::wait_for_end(int64_t timeout_ns) const noexcept {
  constexpr std::chrono::milliseconds kPause{10};
  try {
    wait_idly(timeout_ns);
  } catch (...) {
    // The event failed, or the driver cannot tell and is asked again after a pause.
    if (!has_ended()) std::this_thread::sleep_for(kPause);
  }
}

void* Event::publish() const {
  device_.check_usable();
  void* sync_event = nullptr;
  device_.backend().call("event_publish", device_.backend().table().event_publish, handle_, &sync_event);
  if (device_.waits_on_host()) {
    device_.published_events().add(sync_event);
    published_.store(sync_event);
  }
  return sync_event;
}

void ForeignEvent::check(const Device& source, const void* sync_event) { check(source.type(), sync_event); }

void ForeignEvent::check(ArrowDeviceType source, const void* sync_event) {
  const auto* type = backend::find_device_type(source);
  if (sync_event != nullptr && type != nullptr && !type->has_events) {
    throw Error(EINVAL, std::string("sync_event is not NULL, but arrays on ") + type->name + " have no events");
  }
}

ForeignEvent::ForeignEvent(Device& source, void* sync_event) {
  check(source, sync_event);
  if (sync_event == nullptr) return;
  const auto& backend = source.backend();
  backend.require("event_import", backend.table().event_import);
  source.check_usable();
  is_our_own_ = source.waits_on_host() && source.published_events().contains(sync_event);
  void* handle = nullptr;
  backend.call("event_import", backend.table().event_import, source.handle(), sync_event, &handle);
  try {
    event_ = std::make_shared<Event>(source, handle);
  } catch (...) {
    backend.table().event_destroy(handle);  // no object owns the handle yet
    throw;
  }
}

void ForeignEvent::wait(int64_t timeout_ns) const {
  if (event_ != nullptr && !event_->wait(timeout_ns)) {
    throw Error(ETIMEDOUT, "the producer's event on " + event_->device().text() + " has not fired in time");
  }
}

void ForeignEvent::wait_on(Queue& queue, int64_t timeout_ns) const {
  if (event_ == nullptr) return;
  const bool is_of_queues_backend = &queue.device().backend() == &event_->device().backend();
  // A backend that blocks in the call would keep other calls of the queue waiting. A foreign event may take any time,
  // and a caller that unwraps the queue must not wait for that.
  const bool is_bounded = timeout_ns != ARROWDEVICE_NO_TIMEOUT || interrupt::is_set();
  const bool waits_here = queue.device().waits_on_host() && (is_bounded || !is_our_own_);
  if (!is_of_queues_backend || waits_here) wait(timeout_ns);
  if (is_of_queues_backend) queue.wait_for(*event_);
}

}  // namespace arrowdevice::device
