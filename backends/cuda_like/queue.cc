// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/queue.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/deadline.h"
#include "cuda_like/copy.h"

namespace arrowdevice::cuda_like {
namespace {

// Intervals between polls. They grow from the first to the longest.
constexpr std::chrono::microseconds kFirstPause{2};
constexpr std::chrono::microseconds kLongestPause{200};

NativeEvent checked(const NativeEvent* published) {
  if (published == nullptr || *published == nullptr) {
    throw Error(EINVAL, "sync_event must be the address of an event's handle, which is NULL");
  }
  return *published;
}

}  // namespace

Event::Event(Gpu& gpu)
    : gpu_(gpu), native_(gpu.use([](Driver& driver) { return driver.create_event(); })), is_borrowed_(false) {}

Event::Event(Gpu& gpu, const NativeEvent* published) : gpu_(gpu), native_(checked(published)), is_borrowed_(true) {}

Event::~Event() {
  if (is_borrowed_) return;
  gpu_.give_back([this](Driver& driver) { driver.destroy_event(native_); });
}

bool Event::is_done() const {
  return gpu_.use([this](Driver& driver) { return driver.is_done(native_); });
}

// Polls if there is a time limit, because no driver has a wait with a time limit.
void Event::wait(int64_t timeout_ns) const {
  gpu_.use([&](Driver& driver) {
    if (timeout_ns == ARROWDEVICE_NO_TIMEOUT) return driver.wait(native_);
    const Deadline deadline(timeout_ns);
    for (auto pause = kFirstPause; !driver.is_done(native_); pause = std::min(2 * pause, kLongestPause)) {
      const std::chrono::nanoseconds left(deadline.left());
      if (left.count() < 0) {
        throw Error(ETIMEDOUT, format("an event was still pending after %lld ns", static_cast<long long>(timeout_ns)));
      }
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, left));
    }
  });
}

Queue::Queue(Device& device)
    : device_(device),
      stream_(device.gpu.use([](Driver& driver) { return driver.create_stream(); })),
      is_borrowed_(false) {}

Queue::Queue(Device& device, Stream borrowed) : device_(device), stream_(borrowed), is_borrowed_(true) {
  const auto place = gpu().use([&](Driver& driver) { return driver.place_of(borrowed); });
  if (!place) return;
  if (place->ordinal != gpu().ordinal()) {
    throw Error(EINVAL, format("the stream %p is of GPU %d, not of GPU %d", borrowed, place->ordinal, gpu().ordinal()));
  }
  if (place->context != gpu().context()) {
    throw Error(EINVAL,
                format("the stream %p is of the context %p, not of %p: wrap it on the device that was wrapped with its "
                       "context",
                       borrowed, place->context, gpu().context()));
  }
}

// The driver returns at once and destroys the stream when its work has finished.
Queue::~Queue() {
  if (is_borrowed_) return;
  gpu().give_back([this](Driver& driver) { driver.destroy_stream(stream_); });
}

void Queue::copy(std::span<const arrowdevice_backend_region> regions) {
  gpu().use([&](Driver& driver) { copy_regions(driver, gpu(), stream_, regions); });
}

std::unique_ptr<Event> Queue::record() {
  auto event = std::make_unique<Event>(gpu());
  gpu().use([&](Driver& driver) { driver.record(event->native(), stream_); });
  return event;
}

void Queue::wait(const Event& event) {
  gpu().use([&](Driver& driver) { driver.wait_on(stream_, event.native()); });
}

}  // namespace arrowdevice::cuda_like
