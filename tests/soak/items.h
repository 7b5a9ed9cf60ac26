// SPDX-License-Identifier: Apache-2.0
// Arrays of which it is known which rows they must have, and where threads leave them for one another.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rows.h"
#include "support/owned.h"

namespace soak {

using Array = arrowdevice::testing::Owned<ArrowDeviceArray>;

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
