// SPDX-License-Identifier: Apache-2.0
// Calls that end before their work has: because their time is over, or because their thread was interrupted.
#pragma once

#include <memory>

#include "array/owners.h"
#include "base/deadline.h"
#include "base/error.h"

namespace arrowdevice::transfer {

// Returns true if the error ended a wait early. The submitted work may then run on.
bool ends_early(const Error& error, const Deadline& deadline) noexcept;

// Makes `moved` a shared owner and returns another one, or NULL if `moved` is NULL.
std::unique_ptr<array::OwnedArray> hold(ArrowDeviceArray* moved);

}  // namespace arrowdevice::transfer
