// SPDX-License-Identifier: Apache-2.0
#include "inspect/buffer_bounds.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "device/devices.h"

namespace arrowdevice::inspect {

using schema::BufferShape;

void BufferBounds::check(int32_t field, const ArrowDeviceArray& whole) const {
  size_t position = 0;
  for (const auto shape : array_.tree()[field].type.info().buffers) {
    const int64_t repeat = shape == BufferShape::kVariadic ? array_.n_variadic(field) : 1;
    for (int64_t i = 0; i < repeat; ++i) {
      const void* const buffer = array_.buffers(field)[position++];
      if (buffer != nullptr) check_buffer(field, shape, buffer, whole);
    }
  }
}

void BufferBounds::check_buffer(int32_t field, BufferShape shape, const void* buffer,
                                const ArrowDeviceArray& whole) const {
  const auto info = pointer_info(buffer);
  if (!info) return;
  const std::string name = std::string("the ") + schema::buffer_name(shape) + " buffer";
  // The device may be able to use other memory, and host memory belongs to no device in particular. A wrapped device
  // may have an id that the application chose and that the driver does not know.
  const bool has_own_id = info->device_type == whole.device_type && info->device_id >= 0 && !source_.is_wrapped() &&
                          (info->flags & ARROWDEVICE_POINTER_HOST_READABLE) == 0;
  if (has_own_id && info->device_id != whole.device_id && !can_use(*info)) {
    array_.refuse(field, name + " is on device_id " + std::to_string(info->device_id) +
                             ", and the array says device_id " + std::to_string(whole.device_id));
  }
  const int64_t needed = least_bytes(field, shape);
  const int64_t there = room(buffer, needed);
  if (needed > there) {
    array_.refuse(field, name + " needs " + std::to_string(needed) + " bytes, and its memory ends after " +
                             std::to_string(there));
  }
}

std::optional<arrowdevice_pointer_info> BufferBounds::pointer_info(const void* buffer) const {
  // An address gives no information about a context that the library did not create. A handle belongs to one context
  // only.
  return source_.is_borrowed() && source_.has_addresses() ? std::nullopt : source_.pointer_info(buffer);
}

// Returns true if the device can use the memory in place. After a move to such a device the buffers stay on the device
// that made them.
bool BufferBounds::can_use(const arrowdevice_pointer_info& info) const {
  try {
    const auto& owner = device::Devices::instance().get(info.device_type, info.device_id);
    return (device::peer_flags(owner, source_) & ARROWDEVICE_PEER_ACCESS) != 0;
  } catch (const Error& e) {
    if (e.code() != ENODEV) throw;
    return false;  // no device has that id
  }
}

int64_t BufferBounds::room(const void* buffer, int64_t wanted) const {
  auto info = pointer_info(buffer);
  if (!info || info->size < 0) return INT64_MAX;
  // For a sub-buffer with a handle, the driver does not tell its start.
  if (!source_.has_addresses()) return info->size;
  if (info->base == nullptr) return INT64_MAX;
  const auto* const begin = static_cast<const char*>(buffer);
  const char* end = static_cast<const char*>(info->base) + info->size;
  // The driver may know adjacent mappings as separate ranges.
  while (end - begin < wanted) {
    info = pointer_info(end);
    if (!info || info->base != end || info->size <= 0) break;
    end += info->size;
  }
  return std::max<int64_t>(end - begin, 0);
}

int64_t BufferBounds::least_bytes(int32_t field, BufferShape shape) const {
  if (shape == BufferShape::kVariadicSizes) return array_.n_variadic(field) * 8;
  if (array_[field].length == 0) return 0;
  return std::max<int64_t>(
      schema::buffer_bytes(array_.tree()[field].type, shape, array_[field].offset + array_[field].length), 0);
}

}  // namespace arrowdevice::inspect
