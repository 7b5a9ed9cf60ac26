// SPDX-License-Identifier: Apache-2.0
// What arrays that were not copied live on: the producer's array, and the event that it comes with.
#pragma once

#include <memory>

#include "array/output.h"
#include "device/deferred.h"
#include "device/event.h"

namespace arrowdevice::array {

// A device array on its way out. Destroying it releases the array, unless that might call a driver that must not be
// called any more: after `exit` has begun, and in a forked child, only arrays on the CPU and the library's own are
// released.
class OwnedArray final : public device::Deferred {
 public:
  OwnedArray() = default;
  ~OwnedArray() override;

  ArrowDeviceArray array{};

  // The end of an event that the application recorded for the array; may be NULL.
  void (*event_release)(void* user, void* sync_event) = nullptr;
  void* event_user = nullptr;

 private:
  bool may_call_producer() const noexcept;
  void let_go() noexcept;
};

// Releases a producer's array with the last owner; not before its event, where one is set.
class ImportedOwner final : public BufferOwner {
 public:
  ImportedOwner() : owned_(std::make_unique<OwnedArray>()) {}
  ~ImportedOwner() override { device::DeferredWork::instance().defer(std::move(owned_)); }

  ArrowDeviceArray& array() noexcept { return owned_->array; }

  // The event that is published with the array, and lives as long as it does. The memory is not given back to its
  // producer before it has fired.
  void set_event(std::shared_ptr<device::Event> event) noexcept { owned_->after = std::move(event); }

  // What ends a foreign event, with the last owner.
  void set_event_release(void (*event_release)(void* user, void* sync_event), void* user) noexcept {
    owned_->event_release = event_release;
    owned_->event_user = user;
  }

 private:
  std::unique_ptr<OwnedArray> owned_;
};

}  // namespace arrowdevice::array
