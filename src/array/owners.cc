// SPDX-License-Identifier: Apache-2.0
#include "array/owners.h"

#include <new>

#include "base/process.h"

namespace arrowdevice::array {

[[gnu::hot]] OwnedArray::~OwnedArray() {
  if (array.array.release == nullptr) return;
  const bool may_call = may_call_producer();
  if (!may_call && !is_output(array.array)) {
    abandon();
    return;
  }
  array.array.release(&array.array);  // the library's own arrays check which functions they may call
  if (!may_call) return;
  after.reset();  // it borrows the event that is released next
  if (event_release != nullptr) event_release(event_user, array.sync_event);
}

bool OwnedArray::may_call_producer() const noexcept {
  return array.device_type == ARROW_DEVICE_CPU || process::drivers_usable();
}

// Abandons the array for good. If there is no memory for a list entry, leak checkers report the array.
void OwnedArray::abandon() noexcept {
  std::unique_ptr<OwnedArray> abandoned(new (std::nothrow) OwnedArray);
  if (abandoned == nullptr) return;
  abandoned->array = array;
  abandoned->event_release = event_release;
  abandoned->event_user = event_user;
  device::DeferredWork::abandon(std::move(abandoned));
}

}  // namespace arrowdevice::array
