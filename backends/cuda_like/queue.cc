// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/queue.h"

#include <cerrno>

#include "cuda_like/copy.h"

namespace arrowdevice::cuda_like {

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
