// SPDX-License-Identifier: Apache-2.0
// Shared owners of an array's memory.
#pragma once

#include <memory>
#include <optional>

#include "array/output.h"
#include "array/owners.h"

namespace arrowdevice::array {

// Makes an array a shared owner: afterwards the array is an output of this library, and its owner can be shared.
class SharedArray {
 public:
  // Prepares the change. The array is unchanged until commit().
  explicit SharedArray(ArrowDeviceArray& array);

  const std::shared_ptr<BufferOwner>& owner() const noexcept { return owner_; }

  void commit() noexcept;

 private:
  ArrowDeviceArray& array_;
  std::shared_ptr<BufferOwner> owner_;
  ImportedOwner* foreign_ = nullptr;  // NULL: the array is an output already
  std::optional<Output> output_;      // the replacement of the array
};

}  // namespace arrowdevice::array
