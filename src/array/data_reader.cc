// SPDX-License-Identifier: Apache-2.0
#include "array/data_reader.h"

namespace arrowdevice::array {

void DataReader::read(const DataRange* ranges, size_t n, const uint8_t** out) {
  if (queue_ == nullptr) {
    contents_.emplace();
  } else {
    contents_.emplace(source_, *queue_, event_, deadline_);
  }
  const auto find_all = [&] {
    for (size_t i = 0; i < n; ++i) out[i] = contents_->find(ranges[i].buffer, ranges[i].offset, ranges[i].size);
  };
  find_all();
  if (!contents_->has_wishes()) return;
  contents_->read_back();
  find_all();
}

}  // namespace arrowdevice::array
