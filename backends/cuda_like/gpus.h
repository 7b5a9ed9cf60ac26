// SPDX-License-Identifier: Apache-2.0
// All GPUs of a driver and their devices. A device is opened at its first use.
#pragma once

#include <arrowdevice/abi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cuda_like/device.h"

namespace arrowdevice::cuda_like {

struct ServedType {
  ArrowDeviceType type;
  MemoryKind kind;
};

// Throws Error(ENODEV) with the reason if the driver is not available.
using OpenDriver = std::unique_ptr<Driver> (*)();

// All functions are thread-safe.
class Gpus {
 public:
  // `types` must stay valid. The driver is opened at its first use.
  Gpus(OpenDriver open_driver, std::span<const ServedType> types) : open_driver_(open_driver), types_(types) {}

  int64_t count(ArrowDeviceType type);
  // Returns the same device on every call. Throws Error(ENODEV) if the device does not exist.
  Device& open(ArrowDeviceType type, int64_t id);

  // Wraps an application's context, for vendors that have contexts. Returns the same device on every call and counts
  // the calls. Throws Error(EINVAL) for a context of another GPU.
  Device& wrap(ArrowDeviceType type, int64_t id, Context context);
  // Undoes one wrap() call. The last call removes the device's objects from the context, and the library never enters
  // it again. Throws Error(EINVAL) if the device is not wrapped.
  void unwrap(Device& device);

  // Returns the device with this type and id whose context owns the buffer. `buffer` is a buffer of the array and may
  // be NULL. Throws Error(EINVAL) for memory of another GPU.
  Device& locate(ArrowDeviceType type, int64_t id, const void* buffer);

  // Returns the device type of arrays in this kind of memory. Returns the GPU's own type if the format has no type for
  // managed memory.
  ArrowDeviceType type_of(MemoryKind kind) const;

 private:
  struct Place {
    int ordinal;
    Context wrapped;  // NULL for the primary context

    friend bool operator<(const Place& a, const Place& b) noexcept {
      return std::tie(a.ordinal, a.wrapped) < std::tie(b.ordinal, b.wrapped);
    }
  };

  Driver& driver();  // The functions from here to locate_wrapped() require mutex_.
  int device_count();
  Gpu& gpu(const Place& place);
  bool serves(const ServedType& served, int ordinal);
  int ordinal_of(const ServedType& served, int64_t id);
  Device& device(const ServedType& served, const Place& place);
  Device& locate_wrapped(Device& plain, std::span<Device* const> wrapped, const void* buffer);

  const ServedType& served(ArrowDeviceType type) const;

  const OpenDriver open_driver_;
  const std::span<const ServedType> types_;
  std::mutex mutex_;  // guards all members below
  std::unique_ptr<Driver> driver_;
  std::optional<Error> refusal_;
  std::optional<int> count_;
  std::map<Place, std::unique_ptr<Gpu>> gpus_;
  std::map<std::pair<ArrowDeviceType, Place>, std::unique_ptr<Device>> devices_;

  // Taken in shared mode while a driver call uses a wrapped context, and exclusively by wrap() and unwrap(). Taken
  // after mutex_.
  std::shared_mutex wraps_mutex_;
  std::map<Device*, int> wraps_;  // number of wrap() calls for each device
};

}  // namespace arrowdevice::cuda_like
