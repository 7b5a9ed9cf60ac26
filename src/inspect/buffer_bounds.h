// SPDX-License-Identifier: Apache-2.0
// Where the buffers of an array are and where they end, as far as the driver knows.
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

  // Throws EINVAL if a buffer of the field is where the array's device cannot use it, or too small for its slots.
  void check(int32_t field, const ArrowDeviceArray& whole) const;

  // How many bytes there are from a buffer on, at most: INT64_MAX where the driver does not say, and any number not
  // below `wanted` where there are as many.
  int64_t room(const void* buffer, int64_t wanted) const;

 private:
  void check_buffer(int32_t field, schema::BufferShape shape, const void* buffer, const ArrowDeviceArray& whole) const;
  // Whether the array's device can use memory that belongs to another one.
  bool can_use(const arrowdevice_pointer_info& info) const;
  // Nothing where the driver does not know the address or handle.
  std::optional<arrowdevice_pointer_info> describe(const void* buffer) const;
  // That a buffer needs for its slots, as far as their number says.
  int64_t least_bytes(int32_t field, schema::BufferShape shape) const;

  const schema::Binding& array_;
  const device::Device& source_;
};

}  // namespace arrowdevice::inspect
