// SPDX-License-Identifier: Apache-2.0
#include "device/queue.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "base/log.h"

namespace arrowdevice::device {
namespace {

// Waits until the work before the event has finished or failed. If the driver cannot tell, asks again, for about a
// second.
bool wait_until_ended(const Event& end) noexcept {
  constexpr int kAttempts = 100;
  constexpr std::chrono::milliseconds kPause{10};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    try {
      end.wait_idly(ARROWDEVICE_NO_TIMEOUT);
      return true;
    } catch (...) {
      if (end.has_ended()) return true;
      if (!end.device().is_usable()) return false;
    }
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace

// Takes ownership of the handle. Destroys the handle if there is no memory for the queue.
std::shared_ptr<Queue> Queue::take_over(Device& device, void* handle, bool is_wrapped) {
  std::unique_ptr<Queue> queue(new (std::nothrow) Queue(device, handle, is_wrapped));
  if (queue == nullptr) {
    device.backend().table().queue_destroy(handle);
    throw std::bad_alloc();
  }
  return queue;
}

std::shared_ptr<Queue> Queue::create(Device& device) {
  device.check_usable();
  void* handle = nullptr;
  device.backend().call("queue_create", device.backend().table().queue_create, device.handle(), &handle);
  return take_over(device, handle, false);
}

std::shared_ptr<Queue> Queue::wrap(Device& device, const arrowdevice_native_queue& native) {
  device.check_usable();
  const auto& backend = device.backend();
  backend.require("queue_wrap", backend.table().queue_wrap);
  void* handle = nullptr;
  backend.call("queue_wrap", backend.table().queue_wrap, device.handle(), &native, &handle);
  return take_over(device, handle, true);
}

Queue::~Queue() {
  if (handle_ != nullptr && device_.is_usable()) device_.backend().table().queue_destroy(handle_);
}

Queue::Turn::Turn(Queue& queue, const Deadline& deadline) : queue_(queue) {
  int free = kFree;
  if (queue.turn_.compare_exchange_strong(free, kTaken)) return;
  std::unique_lock lock(queue.mutex_);
  const auto takes = [&] { return queue.turn_.exchange(kAwaited) == kFree; };
  constexpr int64_t kLongest = INT64_MAX / 4;  // the end of a longer wait cannot be represented
  const int64_t left = deadline.left();
  if (left == ARROWDEVICE_NO_TIMEOUT) {
    queue.changed_.wait(lock, takes);
  } else if (!queue.changed_.wait_for(lock, std::chrono::nanoseconds(std::clamp<int64_t>(left, 0, kLongest)), takes)) {
    throw Error(ETIMEDOUT, "the driver of " + queue.device_.text() + " is still busy with a call for the queue");
  }
}

Queue::Turn::~Turn() {
  if (queue_.turn_.exchange(kFree) != kAwaited) return;
  const std::lock_guard lock(queue_.mutex_);
  queue_.changed_.notify_all();
}

arrowdevice_native_queue Queue::native() {
  const Turn turn(*this);
  return native_here();
}

arrowdevice_native_queue Queue::begin_native_use() {
  const Turn turn(*this);
  const auto native = native_here();
  const std::lock_guard lock(mutex_);
  ++native_uses_;
  return native;
}

void Queue::end_native_use() noexcept {
  const std::lock_guard lock(mutex_);
  --native_uses_;
  changed_.notify_all();
}

// The caller has its turn.
arrowdevice_native_queue Queue::native_here() {
  const auto& backend = device_.backend();
  backend.require("queue_get_native", backend.table().queue_get_native);
  device_.check_usable();
  arrowdevice_native_queue out{};
  out.struct_size = sizeof out;
  backend.call("queue_get_native", backend.table().queue_get_native, usable_handle(), &out);
  is_known_outside_ = true;
  return out;
}

void Queue::give_native_back() noexcept {
  if (!device_.is_usable() || !is_wrapped()) return;
  // The application's functions that use the native queue may submit work, so this thread waits for them without its
  // turn. No use begins without one.
  std::optional<Turn> turn;
  for (bool is_used = true; is_used;) {
    turn.reset();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return native_uses_ == 0; });
    lock.unlock();
    turn.emplace(*this);
    lock.lock();
    is_used = native_uses_ != 0;
  }
  Failure lost;
  try {
    record_here();
  } catch (...) {
    lost = Failure::current();
  }
  device_.backend().table().queue_destroy(std::exchange(handle_, nullptr));
  const std::lock_guard lock(mutex_);
  if (lost) lost_ = std::move(lost);
  is_known_outside_ = false;
  is_wrapped_ = false;
}

void* Queue::usable_handle() {
  if (handle_ != nullptr) return handle_;
  std::shared_ptr<Event> last;
  {
    const std::lock_guard lock(mutex_);
    if (lost_) lost_.raise();
    last = last_;
  }
  const auto& backend = device_.backend();
  void* made = nullptr;
  backend.call("queue_create", backend.table().queue_create, device_.handle(), &made);
  try {
    backend.call("queue_wait_event", backend.table().queue_wait_event, made, last->handle());
  } catch (...) {
    backend.table().queue_destroy(made);
    throw;
  }
  handle_ = made;
  return handle_;
}

void Queue::copy(std::span<const arrowdevice_backend_region> regions) {
  if (regions.empty()) return;
  device_.check_usable();
  Turn turn(*this);
  void* const handle = usable_handle();
  turn.add_work();
  device_.backend().call("queue_copy", device_.backend().table().queue_copy, handle, regions.data(),
                         static_cast<int64_t>(regions.size()));
  // Counts after the driver has accepted the regions, because the caller may have passed any sizes.
  int64_t in = 0;
  int64_t out = 0;
  for (const auto& region : regions) {
    if (region.dst_device == device_.handle()) in += region.size;
    if (region.src_device == device_.handle()) out += region.size;
  }
  auto& counters = device_.counters();
  Counters::add(counters.submissions, 1);
  Counters::add(counters.regions, static_cast<int64_t>(regions.size()));
  Counters::add(counters.bytes_in, in);
  Counters::add(counters.bytes_out, out);
}

std::shared_ptr<Event> Queue::record() {
  device_.check_usable();
  const Turn turn(*this);
  return record_unless_at_end();
}

// The caller has its turn.
std::shared_ptr<Event> Queue::record_unless_at_end() {
  if (handle_ == nullptr) {
    const std::lock_guard lock(mutex_);
    if (!has_new_work_ && !lost_) return last_;  // unwrapped, with an event after the work
  }
  return record_here();
}

EventOrder Queue::order() const noexcept {
  return {.queue = id_, .thread = is_wrapped() ? static_cast<uint64_t>(pthread_self()) : 0};
}

std::shared_ptr<Event> Queue::record_here() {
  const auto& table = device_.backend().table();
  void* handle = nullptr;
  device_.backend().call("event_record", table.event_record, usable_handle(), &handle);
  Counters::add(device_.counters().events, 1);
  std::shared_ptr<Event> event;
  try {
    event = std::make_shared<Event>(device_, handle, order());
  } catch (...) {
    table.event_destroy(handle);
    throw;
  }
  // The former event is destroyed after the unlock, because that calls the driver.
  std::shared_ptr<Event> former = event;
  const std::lock_guard lock(mutex_);
  last_.swap(former);
  has_new_work_ = false;
  return event;
}

void Queue::wait_for(const Event& event) {
  device_.check_usable();
  Turn turn(*this);
  void* const handle = usable_handle();
  has_new_work_ = true;
  may_wait_for_others_ = true;
  device_.backend().call("queue_wait_event", device_.backend().table().queue_wait_event, handle, event.handle());
}

// Waits for the last event if it covers all work. A new event is pending for a moment even if the queue is idle, so
// each poll with a new event would return false.
bool Queue::finish(int64_t timeout_ns) {
  const Deadline deadline(timeout_ns);
  auto event = end();
  if (event == nullptr) {
    device_.check_usable();
    try {
      const Turn turn(*this, deadline);
      event = record_unless_at_end();
    } catch (const Error& e) {
      if (e.code() == ETIMEDOUT) return false;
      throw;
    }
  }
  return event->wait(deadline.left());
}

void Queue::finish_in_time(const Deadline& deadline) {
  if (!finish(deadline.left())) {
    throw Error(ETIMEDOUT, "the queue's work on " + device_.text() + " is not done in time");
  }
}

bool Queue::has_work_of_others() {
  if (!may_wait_for_others_ && !is_known_outside_) return false;
  auto event = end();
  if (event == nullptr) event = record();
  // A new event is pending for a moment even if the queue is idle.
  constexpr int64_t kMoment = 100'000;  // nanoseconds
  return !event->is_ready() && !event->wait_idly(kMoment);
}

std::shared_ptr<Event> Queue::last() const noexcept {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::shared_ptr<Event> Queue::end() const noexcept {
  const std::lock_guard lock(mutex_);
  return is_known_outside_ || has_new_work_ || lost_ ? nullptr : last_;
}

Queue::State Queue::state() const noexcept {
  const auto event = last();
  if (event == nullptr || !device_.is_usable()) return State::kIdle;
  try {
    return event->is_ready() ? State::kIdle : State::kBusy;
  } catch (const Error& e) {
    return e.code() == EIO ? State::kFailed : State::kBusy;  // with another code, the driver cannot tell
  } catch (...) {
    return State::kBusy;
  }
}

// Does the same as one attempt of drain(), with an event that needs no memory of the library.
bool Queue::drain_without_memory() noexcept {
  arrowdevice_error unseen{};
  void* handle = nullptr;
  {
    const Turn turn(*this);
    if (handle_ == nullptr || device_.backend().table().event_record(handle_, &handle, &unseen) != 0) return false;
  }
  return wait_until_ended(Event(device_, handle));
}

// Drains a queue that was lost when it was unwrapped. The application's work cannot be waited for, but the library's
// own work has its event.
std::optional<bool> Queue::drain_lost() noexcept {
  std::shared_ptr<Event> end;
  {
    const std::lock_guard lock(mutex_);
    if (!lost_ || has_new_work_) return std::nullopt;
    end = last_;
  }
  return end == nullptr || wait_until_ended(*end);
}

bool Queue::drain() noexcept {
  if (!device_.is_usable()) return false;
  if (const auto drained = drain_lost()) return *drained;
  // A second attempt helps because recording an event or waiting for an event may be the call that failed.
  constexpr int kAttempts = 2;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::shared_ptr<Event> end;
    try {
      end = record();
    } catch (const std::bad_alloc&) {
      if (drain_without_memory()) return true;
      continue;
    } catch (...) {
      continue;
    }
    if (wait_until_ended(*end)) return true;
  }
  log(LogLevel::kError, "a queue could not be drained after a failure; its memory is not used again");
  return false;
}

}  // namespace arrowdevice::device
