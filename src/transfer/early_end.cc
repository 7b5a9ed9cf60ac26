// SPDX-License-Identifier: Apache-2.0
#include "transfer/early_end.h"

#include <cerrno>

#include "array/slice.h"

namespace arrowdevice::transfer {

bool ends_early(const Error& error, const Deadline& deadline) noexcept {
  return error.code() == ECANCELED || (error.code() == ETIMEDOUT && deadline.has_limit());
}

std::unique_ptr<array::OwnedArray> hold(ArrowDeviceArray* moved) {
  if (moved == nullptr) return nullptr;
  auto held = std::make_unique<array::OwnedArray>();
  array::share(*moved, &held->array);
  return held;
}

}  // namespace arrowdevice::transfer
