// SPDX-License-Identifier: Apache-2.0
// Record batches of files and streams, and texts about them.
#pragma once

#include <arrowdevice/arrowdevice.hpp>

#include <cstdint>
#include <string>

namespace arrowdevice::tool {

// Numbers of all batches of a file or a stream.
struct Totals {
  // Adds a batch. Throws std::runtime_error if there are too many rows to count.
  void add(const arrowdevice_node& batch);

  int64_t batches = 0;
  int64_t rows = 0;
  int64_t bytes = 0;  // of the buffers
};

cpp::View view_of(cpp::DeviceArray array, const cpp::Schema& type);

// Returns a number with its noun, such as "1,200 rows".
std::string count_of(int64_t number, const char* one, const char* many);

// Returns a text such as "1,200 rows in 3 batches, 4 columns, 64 KiB".
std::string text_of(const Totals& totals, int64_t columns);

}  // namespace arrowdevice::tool
