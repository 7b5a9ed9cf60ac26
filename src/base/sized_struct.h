// SPDX-License-Identifier: Apache-2.0
// Structs that begin with their own size. They can grow without breaking programs that were compiled before.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace arrowdevice {

// Returns options as this version of the library knows them. Reads the lesser of both sizes and sets the rest to zero.
// NULL options are all zero. `first_size` is the struct's size in the first release.
template <typename Options>
Options read_sized(const Options* given, uint32_t first_size, const char* what) {
  Options known{};
  if (given != nullptr) {
    if (given->struct_size < first_size) {
      throw Error(EINVAL, format("%s.struct_size is %u, less than %u", what, given->struct_size, first_size));
    }
    std::memcpy(static_cast<void*>(&known), given, std::min<size_t>(given->struct_size, sizeof known));
  }
  known.struct_size = sizeof known;
  return known;
}

// Fills a caller's info struct, which may have another size, from the library's struct. Members that the library does
// not know become zero.
template <typename Info>
void write_sized(Info* out, const Info& known, uint32_t first_size, const char* what) {
  if (out == nullptr) throw Error(EINVAL, format("%s is NULL", what));
  const uint32_t size = out->struct_size;
  if (size < first_size) throw Error(EINVAL, format("%s.struct_size is %u, less than %u", what, size, first_size));
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  const size_t common = std::min<size_t>(size, sizeof known);
  std::memcpy(bytes, &known, common);
  std::memset(bytes + common, 0, size - common);
  out->struct_size = size;
}

}  // namespace arrowdevice
