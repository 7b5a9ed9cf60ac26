// SPDX-License-Identifier: Apache-2.0
// Rows that are known, and arrays of which it is known which of these rows they must have.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "support/field.h"
#include "support/generator.h"
#include "support/host_data.h"
#include "support/owned.h"

namespace soak {

using Array = arrowdevice::testing::Owned<ArrowDeviceArray>;
using HostArray = arrowdevice::testing::Owned<ArrowArray>;
using Schema = arrowdevice::testing::Owned<ArrowSchema>;
using arrowdevice::testing::Ledger;
using arrowdevice::testing::Random;

class Rows {
 public:
  Rows(const arrowdevice::testing::Field& type, const arrowdevice::testing::Knobs& knobs);
  Rows(const Rows&) = delete;

  // Of a random type, with random corners. Some are as large as it takes for a copy to go in pieces.
  static std::shared_ptr<const Rows> some(Random& dice);
  static std::shared_ptr<const Rows> large();

  HostArray host(const Ledger& ledger) const { return make_array(data_, ledger); }
  int64_t length() const { return twin_->length; }
  const ArrowSchema& schema() const { return *schema_; }
  bool is_record() const;  // has columns to select

  // "" if the host array has `columns` of these rows from `first` on, as many rows as it has itself.
  std::string difference(const std::vector<int64_t>* columns, int64_t first, const ArrowSchema& type,
                         const ArrowArray& array) const;

 private:
  arrowdevice::testing::Data data_;
  Schema schema_;
  HostArray twin_;
};

// An array, and what it must be.
struct Item {
  Item() = default;
  Item(Item&& other) = default;
  Item& operator=(Item&& other) noexcept;
  ~Item() { settle(); }

  Array array;
  std::shared_ptr<const Rows> rows;
  int64_t first = 0;
  std::shared_ptr<const std::vector<int64_t>> columns;  // that were selected; NULL: all
  std::shared_ptr<const Schema> selected;               // their type
  // An event that it waits for failed, or may have: whatever looks at its data may fail with it.
  bool is_spoiled = false;
  // What copies into it still read; needed until its event has fired.
  std::vector<std::shared_ptr<const Array>> sources;

  int64_t length() const { return array->array.length; }
  const ArrowSchema& type() const { return selected != nullptr ? **selected : rows->schema(); }

  // The same rows in another array.
  Item with(Array other) const;

  // Waits for its event and lets the sources go.
  void settle();
};

// Where threads leave arrays for one another.
class Bag {
 public:
  // Takes what is there, leaves `item` if there is one.
  std::optional<Item> swap(size_t place, std::optional<Item> item);
  static constexpr size_t kPlaces = 24;

 private:
  struct Place {
    std::mutex mutex;
    std::optional<Item> item;
  };
  std::array<Place, kPlaces> places_;
};

}  // namespace soak
