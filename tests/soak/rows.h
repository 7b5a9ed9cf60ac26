// SPDX-License-Identifier: Apache-2.0
// Known rows to make arrays of and to compare arrays with.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <memory>
#include <string>
#include <vector>

#include "support/field.h"
#include "support/generator.h"
#include "support/host_data.h"
#include "support/owned.h"

namespace soak {

using HostArray = arrowdevice::testing::Owned<ArrowArray>;
using Schema = arrowdevice::testing::Owned<ArrowSchema>;
using arrowdevice::testing::Ledger;
using arrowdevice::testing::Random;

class Rows {
 public:
  Rows(const arrowdevice::testing::Field& type, const arrowdevice::testing::Knobs& knobs);
  Rows(const Rows&) = delete;

  // Return rows of a random type with random corner cases. Some are large enough for a copy in pieces.
  static std::shared_ptr<const Rows> some(Random& dice);
  static std::shared_ptr<const Rows> large();

  HostArray host(const Ledger& ledger) const { return make_array(data_, ledger); }
  int64_t length() const { return twin_->length; }
  const ArrowSchema& schema() const { return *schema_; }
  bool is_record() const;  // has columns to select

  // Returns "" if the host array has `columns` of these rows from `first` on, as many rows as its length
  // says.
  std::string difference(const std::vector<int64_t>* columns, int64_t first, const ArrowSchema& type,
                         const ArrowArray& array) const;

 private:
  arrowdevice::testing::Data data_;
  Schema schema_;
  HostArray twin_;
};

}  // namespace soak
