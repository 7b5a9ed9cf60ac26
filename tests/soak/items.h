// SPDX-License-Identifier: Apache-2.0
// Arrays with known rows, and the bag through which threads exchange them.
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

// An array and its expected rows.
struct Item {
  Item() = default;
  Item(Item&& other) = default;
  Item& operator=(Item&& other) noexcept;
  ~Item() { settle(); }

  Array array;
  std::shared_ptr<const Rows> rows;
  int64_t first = 0;
  std::shared_ptr<const std::vector<int64_t>> columns;  // selected columns; NULL means all
  std::shared_ptr<const Schema> selected;               // their type
  // An event of the array has failed or may have failed. A call that reads its data may fail with it.
  bool is_spoiled = false;
  // The sources of pending copies into it. They are needed until its event has fired.
  std::vector<std::shared_ptr<const Array>> sources;

  int64_t length() const { return array->array.length; }
  const ArrowSchema& type() const { return selected != nullptr ? **selected : rows->schema(); }

  // Returns an item with the same rows in another array.
  Item with(Array other) const;

  // Waits for its event and drops the sources.
  void settle();
};

// Slots through which threads exchange arrays.
class Bag {
 public:
  // Takes the item in the slot, and leaves `item` there if it has a value.
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
