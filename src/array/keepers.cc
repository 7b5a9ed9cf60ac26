// SPDX-License-Identifier: Apache-2.0
#include "array/keepers.h"

#include "base/process.h"

namespace arrowdevice::array {

OwnedArray::~OwnedArray() {
  if (array.array.release == nullptr) return;
  const bool may_call = may_call_producer();
  // The library's own know themselves what they may call.
  if (may_call || transfer::is_output(array.array)) array.array.release(&array.array);
  if (!may_call) return;
  after.reset();  // it borrows the event that ends next
  if (event_release != nullptr) event_release(event_user, array.sync_event);
}

bool OwnedArray::may_call_producer() const noexcept {
  return array.device_type == ARROW_DEVICE_CPU || process::drivers_usable();
}

bool OwnedArray::must_be_let_go() const noexcept {
  return array.array.release != nullptr && !may_call_producer() && !transfer::is_output(array.array);
}

ForeignKeeper::~ForeignKeeper() {
  if (owned_->must_be_let_go()) {
    device::Reaper::abandon(std::move(owned_));
  } else {
    device::Reaper::instance().defer(std::move(owned_));
  }
}

}  // namespace arrowdevice::array
