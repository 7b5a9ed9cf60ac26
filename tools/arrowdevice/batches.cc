// SPDX-License-Identifier: Apache-2.0
#include "batches.h"

#include <iterator>
#include <stdexcept>
#include <utility>

#include "sizes.h"

namespace arrowdevice::tool {
namespace {

int64_t bytes_of(const arrowdevice_node& node) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < node.n_buffers; ++i) bytes += node.buffers[i].size;
  for (int64_t i = 0; i < node.n_children; ++i) bytes += bytes_of(*node.children[i]);
  return node.dictionary == nullptr ? bytes : bytes + bytes_of(*node.dictionary);
}

}  // namespace

void Totals::add(const arrowdevice_node& batch) {
  ++batches;
  if (__builtin_add_overflow(rows, batch.length, &rows)) throw std::runtime_error("too many rows");
  bytes += bytes_of(batch);
}

cpp::View view_of(cpp::DeviceArray array, const cpp::Schema& type) {
  return cpp::View(std::move(array), type, cpp::import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES));
}

std::string count_of(int64_t number, const char* one, const char* many) {
  std::string text = std::to_string(number);
  for (auto at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
  return text + " " + (number == 1 ? one : many);
}

std::string text_of(const Totals& totals, int64_t columns) {
  return count_of(totals.rows, "row", "rows") + " in " + count_of(totals.batches, "batch", "batches") + ", " +
         count_of(columns, "column", "columns") + ", " + rounded_size(totals.bytes);
}

}  // namespace arrowdevice::tool
