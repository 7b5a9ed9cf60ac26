// SPDX-License-Identifier: Apache-2.0
// A queue of the backend table. It refers to a submission queue of a device's engine. Wrapped queues may share a
// submission queue.
#pragma once

#include <cerrno>
#include <memory>
#include <utility>

#include "base/error.h"
#include "sim/copy.h"
#include "sim/device.h"
#include "sim/engine.h"
#include "sim/event.h"

namespace arrowdevice::sim {

class Queue {
 public:
  explicit Queue(std::shared_ptr<Device> device)
      : device_(std::move(device)),
        submissions_(std::make_shared<SubmissionQueue>()),
        borrowed_(false),
        native_(nullptr) {
    count();
  }

  // Wraps an application's queue, which the application names `native`.
  Queue(std::shared_ptr<Device> device, const std::shared_ptr<Queue>& application, void* native)
      : device_(std::move(device)),
        submissions_(application->submissions()),
        borrowed_(true),
        native_(native),
        application_(application) {
    count();
  }

  // Wraps the device's default queue, which the application names NULL.
  Queue(std::shared_ptr<Device> device, std::shared_ptr<SubmissionQueue> submissions)
      : device_(std::move(device)), submissions_(std::move(submissions)), borrowed_(true), native_(nullptr) {
    count();
  }

  ~Queue() {
    device_->statistics().update([](Counters& counters) { --counters.queues_live; });
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  const std::shared_ptr<Device>& device() const { return device_; }
  const std::shared_ptr<SubmissionQueue>& submissions() const { return submissions_; }

  // Returns the application's name for the queue. A queue of the library is named by its handle.
  void* native(void* handle) const { return borrowed_ ? native_ : handle; }

  void copy(CheckedCopy checked) {
    engine().submit(submissions_, std::move(checked.work));
    device_->statistics().update([&](Counters& counters) { counters += checked.counted; });
  }

  // Records an event. If `doomed` is true, the event fails when the engine reaches it.
  std::shared_ptr<Event> record(bool doomed) {
    auto fence = std::make_shared<Fence>();
    engine().submit(submissions_, FireWork{.fence = fence, .doomed = doomed});
    device_->statistics().update([](Counters& counters) { ++counters.events_recorded; });
    return std::make_shared<Event>(device_, std::move(fence));
  }

  void wait(const Event& event) {
    engine().submit(submissions_, WaitWork{.fence = event.fence()});
    device_->statistics().update([](Counters& counters) { ++counters.queue_waits; });
  }

 private:
  void count() {
    device_->statistics().update([](Counters& counters) {
      ++counters.queues;
      ++counters.queues_live;
    });
  }

  // Throws if the application has destroyed its queue.
  Engine& engine() const {
    if (native_ != nullptr && application_.expired()) {
      throw Error(EINVAL, format("%p, which was wrapped, has been destroyed by the application", native_));
    }
    return device_->engine();
  }

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<SubmissionQueue> submissions_;
  const bool borrowed_;
  void* const native_;
  const std::weak_ptr<Queue> application_;  // the queue named `native_`
};

}  // namespace arrowdevice::sim
