// SPDX-License-Identifier: Apache-2.0
// All GPUs of a driver and the devices on them, opened when they are asked for.
#pragma once

#include <arrowdevice/abi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "shared_streams/device.h"

namespace arrowdevice::streams {

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

  // The type of arrays whose memory is of that kind: the GPU's own where the format has none for managed memory.
  ArrowDeviceType type_of(MemoryKind kind) const;

 private:
  Driver& driver();                                    // needs mutex_
  int device_count();                                  // needs mutex_
  Gpu& gpu(int ordinal);                               // needs mutex_
  bool serves(const ServedType& served, int ordinal);  // needs mutex_
  const ServedType& served(ArrowDeviceType type) const;

  const OpenDriver open_driver_;
  const std::span<const ServedType> types_;
  std::mutex mutex_;  // guards all below
  std::unique_ptr<Driver> driver_;
  std::optional<Error> refusal_;
  std::optional<int> count_;
  std::map<int, std::unique_ptr<Gpu>> gpus_;
  std::map<std::pair<ArrowDeviceType, int64_t>, std::unique_ptr<Device>> devices_;
};

}  // namespace arrowdevice::streams
