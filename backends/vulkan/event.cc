// SPDX-License-Identifier: Apache-2.0
#include "vulkan/event.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "vulkan/device.h"

namespace arrowdevice::vulkan {
namespace {

// Chooses the sleep between two polls of a foreign event. The sleep is a share of the time waited so far. The delay
// thus stays in proportion, and the poll neither keeps a core busy nor adds a millisecond.
class BackOff {
 public:
  void pause(int64_t left_ns) {
    using namespace std::chrono;
    const auto waited = steady_clock::now() - start_;
    if (waited < kBusy) {
      std::this_thread::yield();
      return;
    }
    nanoseconds sleep = std::clamp<nanoseconds>(waited / 8, kShortest, kLongest);
    if (left_ns > 0) sleep = std::min(sleep, nanoseconds(left_ns));
    std::this_thread::sleep_for(sleep);
  }

 private:
  static constexpr std::chrono::microseconds kBusy{20};
  static constexpr std::chrono::microseconds kShortest{10};
  static constexpr std::chrono::microseconds kLongest{1000};

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

RecordedEvent::~RecordedEvent() {
  if (handle_ != VK_NULL_HANDLE) device_.published().remove(handle_);
}

void RecordedEvent::hold_up(Device& device, const std::shared_ptr<SubmissionQueue>& queue) {
  // The device does not know about downloads by the CPU, and a VkDevice cannot use another VkDevice's semaphores.
  if (&device != &device_ || queue_->has_downloads(number_)) {
    wait(Deadline(ARROWDEVICE_NO_TIMEOUT));
  } else {
    queue->wait_for(queue_, number_);
  }
}

void* RecordedEvent::publish() {
  const std::lock_guard lock(publishing_);
  if (published_ == nullptr) set_event();
  return &handle_;
}

void RecordedEvent::set_event() {
  // Downloads finish first, because a consumer of the VkEvent does not run them.
  if (queue_->has_downloads(number_)) wait(Deadline(ARROWDEVICE_NO_TIMEOUT));
  if (queue_->native().sets_events() && set_event_on(queue_)) return;
  // The queue cannot set events, or the application has unwrapped it.
  const auto queue = device_.publishing_queue();
  queue->wait_for(queue_, number_);
  [[maybe_unused]] const bool is_set = set_event_on(queue);
  assert(is_set && "the publishing queue is open as long as the device");
}

// Returns false if the queue is closed.
bool RecordedEvent::set_event_on(const std::shared_ptr<SubmissionQueue>& queue) {
  auto event = std::make_shared<UniqueEvent>(make_event(device_.logical()));
  Batch batch(*queue);
  batch.submission().kept.push_back(event);
  device_.published().add(event->get(), queue_, number_);
  try {
    device_.logical()->vkCmdSetEvent(batch.commands(), event->get(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    if (!batch.try_submit()) {
      device_.published().remove(event->get());
      return false;
    }
  } catch (...) {
    device_.published().remove(event->get());
    throw;
  }
  handle_ = event->get();
  published_ = std::move(event);
  return true;
}

bool ForeignEvent::is_ready() {
  device_.check_not_lost();
  const VkResult status = device_->vkGetEventStatus(device_.handle(), event_);
  device_.check("vkGetEventStatus", status);
  return status == VK_EVENT_SET;
}

bool ForeignEvent::wait(const Deadline& deadline) {
  BackOff back_off;
  while (!is_ready()) {
    const int64_t left = deadline.left();
    if (left < 0) return false;
    back_off.pause(left);
  }
  return true;
}

void ForeignEvent::hold_up(Device&, const std::shared_ptr<SubmissionQueue>&) { wait(Deadline(ARROWDEVICE_NO_TIMEOUT)); }

void* ForeignEvent::publish() { throw Error(ENOTSUP, "a VkEvent of another producer is not published again"); }

}  // namespace arrowdevice::vulkan
