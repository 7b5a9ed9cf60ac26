// SPDX-License-Identifier: Apache-2.0
#include "array/shared_array.h"

#include <utility>

#include "array/clone_structs.h"

namespace arrowdevice::array {

SharedArray::SharedArray(ArrowDeviceArray& array) : array_(array) {
  if (is_output(array.array)) {
    owner_ = owner_of(array.array);
    return;
  }
  auto foreign = std::make_shared<ImportedOwner>();
  output_.emplace(clone_structs(array.array));
  foreign_ = foreign.get();
  owner_ = std::move(foreign);
}

void SharedArray::commit() noexcept {
  if (foreign_ == nullptr) return;
  foreign_->array() = array_;
  output_->publish(owner_, &array_.array);
}

}  // namespace arrowdevice::array
