// SPDX-License-Identifier: Apache-2.0
#include "items.h"

#include "simulated.h"

namespace soak {

Item& Item::operator=(Item&& other) noexcept {
  if (this == &other) return *this;
  settle();
  array = std::move(other.array);
  rows = std::move(other.rows);
  first = other.first;
  columns = std::move(other.columns);
  selected = std::move(other.selected);
  is_spoiled = other.is_spoiled;
  sources = std::move(other.sources);
  return *this;
}

Item Item::with(Array other) const {
  Item made;
  made.array = std::move(other);
  made.rows = rows;
  made.first = first;
  made.columns = columns;
  made.selected = selected;
  made.is_spoiled = is_spoiled;
  made.sources = sources;
  return made;
}

void Item::settle() {
  const Planned nothing;
  // If the event failed or fired, no work reads the sources any more.
  if (!sources.empty() && !array.released())
    arrowdevice_array_wait(array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, nullptr);
  sources.clear();
}

std::optional<Item> Bag::swap(size_t place, std::optional<Item> item) {
  Place& chosen = places_[place % kPlaces];
  const std::lock_guard lock(chosen.mutex);
  std::swap(chosen.item, item);
  return item;
}

}  // namespace soak
