// SPDX-License-Identifier: Apache-2.0
// All GPUs of a driver and the devices on them, opened when they are asked for.
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

// Throws Error(ENODEV) with the reason if the driver is not there.
using OpenDriver = std::unique_ptr<Driver> (*)();

// Thread-safety: free.
class Gpus {
 public:
  // `types` stay valid. The driver is opened at first need.
  Gpus(OpenDriver open_driver, std::span<const ServedType> types) : open_driver_(open_driver), types_(types) {}

  int64_t count(ArrowDeviceType type);
  // Throws Error(ENODEV) if there is none. The same one every time.
  Device& open(ArrowDeviceType type, int64_t id);

  // In an application's context, for drivers that have any. The same one every time, counted. Throws Error(EINVAL) for
  // a context of another GPU.
  Device& wrap(ArrowDeviceType type, int64_t id, Context context);
  // Undoes one wrapping; the last one leaves nothing of the device in the context, which nobody enters any more. Throws
  // Error(EINVAL) if it was not wrapped.
  void unwrap(Device& device);

  // The device that an array is on, by one of its buffers, which may be NULL: of those with that type and id the one in
  // whose context the memory was made. Throws Error(EINVAL) for memory of another GPU.
  Device& locate(ArrowDeviceType type, int64_t id, const void* buffer);

  // The type of arrays whose memory is of that kind: the GPU's own where the format has none for managed memory.
  ArrowDeviceType type_of(MemoryKind kind) const;

 private:
  struct Place {
    int ordinal;
    Context wrapped;  // NULL: the primary one

    friend bool operator<(const Place& a, const Place& b) noexcept {
      return std::tie(a.ordinal, a.wrapped) < std::tie(b.ordinal, b.wrapped);
    }
  };

  Driver& driver();  // these need mutex_
  int device_count();
  Gpu& gpu(const Place& place);
  bool serves(const ServedType& served, int ordinal);
  int ordinal_of(const ServedType& served, int64_t id);
  Device& device(const ServedType& served, const Place& place);
  Device& locate_wrapped(Device& plain, std::span<Device* const> wrapped, const void* buffer);

  const ServedType& served(ArrowDeviceType type) const;

  const OpenDriver open_driver_;
  const std::span<const ServedType> types_;
  std::mutex mutex_;  // guards all below
  std::unique_ptr<Driver> driver_;
  std::optional<Error> refusal_;
  std::optional<int> count_;
  std::map<Place, std::unique_ptr<Gpu>> gpus_;
  std::map<std::pair<ArrowDeviceType, Place>, std::unique_ptr<Device>> devices_;

  // Held together while a driver is asked in a wrapped context, alone when one comes or goes. Taken after mutex_.
  std::shared_mutex wraps_mutex_;
  std::map<Device*, int> wraps_;  // how often each is wrapped
};

}  // namespace arrowdevice::cuda_like
