// SPDX-License-Identifier: Apache-2.0
// Owners of arrays that were not copied: the producer's array and its event.
#pragma once

#include <memory>

#include "array/output.h"
#include "device/deferred.h"
#include "device/event.h"

namespace arrowdevice::array {

// A device array that is to be released. The destructor releases the array, unless the release might call a driver that
// must not be called. After `exit` has begun, and in a forked child, it releases only arrays on the CPU and outputs of
// the library.
class OwnedArray final : public device::Deferred {
 public:
  OwnedArray() = default;
  ~OwnedArray() override;

  ArrowDeviceArray array{};

  // Releases the event that the application recorded for the array. May be NULL.
  void (*event_release)(void* user, void* sync_event) = nullptr;
  void* event_user = nullptr;

 private:
  bool may_call_producer() const noexcept;
  void abandon() noexcept;
};

// Releases a producer's array with the last owner. If an event is set, the release waits for it.
class ImportedOwner final : public BufferOwner {
 public:
  ImportedOwner() : owned_(std::make_unique<OwnedArray>()) {}
  ~ImportedOwner() override { device::DeferredWork::instance().defer(std::move(owned_)); }

  ArrowDeviceArray& array() noexcept { return owned_->array; }

  // Sets the event that is published with the array, and lives as long as the array. The memory is not released to its
  // producer before the event has fired.
  void set_event(std::shared_ptr<device::Event> event) noexcept { owned_->after = std::move(event); }

  // Sets the release of a foreign event, which the last owner calls.
  void set_event_release(void (*event_release)(void* user, void* sync_event), void* user) noexcept {
    owned_->event_release = event_release;
    owned_->event_user = user;
  }

 private:
  std::unique_ptr<OwnedArray> owned_;
};

}  // namespace arrowdevice::array
