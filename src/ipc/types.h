// SPDX-License-Identifier: Apache-2.0
// Types in IPC schemas: a tag and a table of parameters stand for a format string of the C data interface.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ipc/flat_reader.h"
#include "ipc/flat_writer.h"

namespace arrowdevice::ipc {

struct WrittenType {
  TypeTag tag;
  Written table;
};

// Writes a type. `format` is valid, and `flags` are those of its schema. Throws ENOTSUP if the format has a number that
// IPC cannot express.
WrittenType write_type(FlatWriter& writer, std::string_view format, int64_t flags);

// Reads the type of a field, or of its dictionary's values.
struct ReadType {
  std::string format;
  int64_t flags = 0;  // ARROW_FLAG_MAP_KEYS_SORTED, or 0
};

// Returns the type of a field table. The format may still be malformed, such as a fixed-size binary of -1 bytes. Throws
// ENOTSUP for an unknown type, and EINVAL for parameters that no type has.
ReadType read_type(const FlatTable& field);

// Dictionary indices are integers. If `index_type` is not there, they are int32.
Written write_index_type(FlatWriter& writer, std::string_view format);
std::string read_index_type(const FlatTable& encoding);

}  // namespace arrowdevice::ipc
