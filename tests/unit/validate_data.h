// SPDX-License-Identifier: Apache-2.0
// Data of arrays that tests of the validation change.
#pragma once

#include <initializer_list>
#include <string>

#include "library.h"

namespace library_test {

inline Buffer text(const std::string& bytes) { return {Bytes(bytes.begin(), bytes.end()), false}; }

// A view of a long text: its size, prefix, buffer and offset.
struct LongView {
  int32_t size;
  char prefix[4];
  int32_t buffer;
  int32_t offset;
};

inline Data bytes_of_three(const std::string& all, int32_t first, int32_t second) {
  return data_of(3, {no_buffer(), buffer_of<int32_t>({0, first, second, static_cast<int32_t>(all.size())}), text(all)});
}

inline Data items(std::initializer_list<int8_t> values) {
  return data_of(static_cast<int64_t>(values.size()), {no_buffer(), buffer_of<int8_t>(values)});
}

inline Data views(std::initializer_list<LongView> all, const std::string& bytes) {
  return data_of(static_cast<int64_t>(all.size()), {no_buffer(), buffer_of<LongView>(all), text(bytes),
                                                    buffer_of<int64_t>({static_cast<int64_t>(bytes.size())})});
}

inline const std::string kTwoTexts = "thirteen bytesfourteen bytes.";  // of 14 and 15 bytes
inline const LongView kFirstView{14, {'t', 'h', 'i', 'r'}, 0, 0};
inline const LongView kSecondView{15, {'f', 'o', 'u', 'r'}, 0, 14};

inline Data run_ends(std::initializer_list<int32_t> ends, int64_t rows) {
  Data values = items({});
  values.length = static_cast<int64_t>(ends.size());
  values.buffers[1].bytes.resize(ends.size());
  return data_of(rows, {},
                 {data_of(static_cast<int64_t>(ends.size()), {no_buffer(), buffer_of<int32_t>(ends)}), values});
}

}  // namespace library_test
