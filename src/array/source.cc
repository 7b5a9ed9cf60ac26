// SPDX-License-Identifier: Apache-2.0
#include "array/source.h"

#include <cerrno>

#include "device/devices.h"
#include "device/event.h"

namespace arrowdevice::array {
namespace {

constexpr int kDeepestLookForBuffer = 64;

// Some buffer of the array, to ask its backend about; NULL if there is none on the way down the first children.
const void* any_buffer(const ArrowArray& root) {
  const ArrowArray* array = &root;
  for (int depth = 0; depth < kDeepestLookForBuffer && array != nullptr; ++depth) {
    for (int64_t i = 0; array->buffers != nullptr && i < array->n_buffers; ++i) {
      if (array->buffers[i] != nullptr) return array->buffers[i];
    }
    array = array->n_children > 0 && array->children != nullptr ? array->children[0] : nullptr;
    if (array != nullptr && array->release == nullptr) array = nullptr;  // moved out, or gone
  }
  return nullptr;
}

}  // namespace

void check_alive(const ArrowArray* array) {
  if (array == nullptr) throw Error(EINVAL, "the array is NULL");
  if (array->release == nullptr) throw Error(EINVAL, "the array is released");
}

void check_alive(const ArrowDeviceArray* array) {
  if (array == nullptr) throw Error(EINVAL, "the array is NULL");
  check_alive(&array->array);
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
  device::ForeignEvent(device_of(array, named), array.sync_event).wait(deadline.left());
}

void wait_on(const ArrowDeviceArray& array, device::Device* named, device::Queue& queue) {
  constexpr int64_t kForEver = -1;
  device::ForeignEvent(device_of(array, named), array.sync_event).wait_on(queue, kForEver);
}

}  // namespace arrowdevice::array
