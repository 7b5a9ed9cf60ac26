// SPDX-License-Identifier: Apache-2.0
// The devices and bounds of an array's buffers, if the driver knows them.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <optional>
#include <string>

#include "device/device.h"
#include "schema/binding.h"

namespace arrowdevice::inspect {

class BufferBounds {
 public:
  // Borrows both.
  BufferBounds(const schema::Binding& array, const device::Device& source) : array_(array), source_(source) {}

  // Throws EINVAL if the array's device cannot use a buffer of the field, or if a buffer is too small for its slots.
  void check(int32_t field, const ArrowDeviceArray& whole) const;

  // Returns an upper bound of the bytes from a buffer on. Returns INT64_MAX if the driver does not tell. If there are
  // at least `wanted` bytes, the result may be any number that is not below `wanted`.
  int64_t room(const void* buffer, int64_t wanted) const;

 private:
  void check_buffer(int32_t field, schema::BufferShape shape, const void* buffer, const ArrowDeviceArray& whole) const;
  // Returns true if the array's device can use the memory of another device.
  bool can_use(const arrowdevice_pointer_info& info) const;
  // Returns nullopt if the driver does not know the address or handle.
  std::optional<arrowdevice_pointer_info> pointer_info(const void* buffer) const;
  // Returns the bytes that a buffer needs for its slots, as far as their number tells.
  int64_t least_bytes(int32_t field, schema::BufferShape shape) const;

  const schema::Binding& array_;
  const device::Device& source_;
};

}  // namespace arrowdevice::inspect
