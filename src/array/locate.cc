// SPDX-License-Identifier: Apache-2.0
#include "array/locate.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "backend/device_types.h"
#include "base/trace.h"
#include "device/devices.h"
#include "device/event.h"

namespace arrowdevice::array {
namespace {

// Limits of the search, because the array is not checked yet and may contain itself.
constexpr int kDeepestLookForBuffer = 64;
constexpr int kMostLooksForBuffer = 1 << 16;

// Returns some buffer of the array to ask its backend about: the first in the order of its fields. Returns NULL if
// there is none.
const void* any_buffer(const ArrowArray& array, int depth, int& looks_left) {
  if (array.release == nullptr || depth == 0 || looks_left-- <= 0) return nullptr;  // moved out or released
  for (int64_t i = 0; array.buffers != nullptr && i < array.n_buffers; ++i) {
    if (array.buffers[i] != nullptr) return array.buffers[i];
  }
  // A column of nulls or without rows may have no buffer, so the next columns are searched too.
  for (int64_t i = 0; array.children != nullptr && i < array.n_children && looks_left > 0; ++i) {
    if (array.children[i] == nullptr) continue;
    if (const void* const found = any_buffer(*array.children[i], depth - 1, looks_left)) return found;
  }
  return array.dictionary != nullptr ? any_buffer(*array.dictionary, depth - 1, looks_left) : nullptr;
}

const void* any_buffer(const ArrowArray& array) {
  int looks_left = kMostLooksForBuffer;
  return any_buffer(array, kDeepestLookForBuffer, looks_left);
}

}  // namespace

[[gnu::hot]] void check_alive(const ArrowArray* array) {
  if (array == nullptr) throw Error(EINVAL, "the array is NULL");
  if (array->release == nullptr) throw Error(EINVAL, "the array is released");
}

void check_alive(const ArrowDeviceArray* array) {
  if (array == nullptr) throw Error(EINVAL, "the array is NULL");
  check_alive(&array->array);
}

void check_event(const ArrowDeviceArray& array) {
  if (array.sync_event != nullptr) device::ForeignEvent::check(array.device_type, array.sync_event);
}

void check_accessible(const ArrowDeviceArray& array, ArrowDeviceType stream) {
  if (backend::can_access(stream, array.device_type) || any_buffer(array.array) == nullptr) return;
  throw Error(EINVAL, "the array is on " + backend::device_text(array.device_type, array.device_id) +
                          ", whose memory a stream on " + backend::device_type_text(stream) + " cannot have");
}

void make_canonical(ArrowDeviceArray& array) noexcept {
  if (array.device_type == ARROW_DEVICE_CPU) array.device_id = -1;
  std::fill(std::begin(array.reserved), std::end(array.reserved), 0);
}

device::Device& device_of(const ArrowDeviceArray& array, device::Device* named) {
  auto& device = named != nullptr ? *named
                                  : device::Devices::instance().locate(array.device_type, array.device_id,
                                                                       any_buffer(array.array), array.sync_event);
  device.check_usable();
  return device;
}

bool is_ready(const ArrowDeviceArray& array, device::Device* named) {
  return device::ForeignEvent(device_of(array, named), array.sync_event).is_ready();
}

void wait(const ArrowDeviceArray& array, device::Device* named, const Deadline& deadline) {
  trace::Span span("wait", "array_wait", trace::kLeastWaitNs);
  auto& device = device_of(array, named);
  device::ForeignEvent(device, array.sync_event).wait(deadline.left());
  span.end([&] { return trace::Facts().add("device", device.text()); });
}

void wait_on(const ArrowDeviceArray& array, device::Device* named, device::Queue& queue) {
  device::ForeignEvent(device_of(array, named), array.sync_event).wait_on(queue, ARROWDEVICE_NO_TIMEOUT);
}

}  // namespace arrowdevice::array
