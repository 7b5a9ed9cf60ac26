// SPDX-License-Identifier: Apache-2.0
// Structs that begin with their own size, so that they can grow without breaking programs compiled before.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace arrowdevice {

// Options as this version of the library knows them: the lesser of both sizes is read, the rest is zero. NULL options
// are all zero. `first_size` is the struct's size in the first release.
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

// Fills an info struct of the caller's size from one of ours; what we do not know is zeroed.
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
