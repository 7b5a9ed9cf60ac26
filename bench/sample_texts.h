// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batch.h"

namespace arrowdevice::bench {

// A batch with one column of 16 MB of texts. Each text has as many characters of a UTF-8 sample, in turn, as fit into
// `text_bytes`.
class SampleTexts : public RecordBatch {
 public:
  enum class Layout { kOffsets, kViews };
  enum class Content { kValid, kSpoiled };  // the last byte of a spoiled batch begins no character

  SampleTexts(Layout layout, std::string_view sample, size_t text_bytes, Content content);

  size_t bytes() const { return bytes_; }

 private:
  using Rows = std::vector<std::string_view>;

  Field& add_offsets_and_bytes(const Rows& rows);
  Field& add_views(const Rows& rows);

  size_t bytes_ = 0;
};

}  // namespace arrowdevice::bench
