// SPDX-License-Identifier: Apache-2.0
// Schemas as messages of Arrow's IPC format.
//
// The format has no place for some properties of a C schema. The name and the flags of the root are lost, and the name
// and the nullable flag of dictionaries. A schema fails with ENOTSUP if more would be lost: a dictionary of
// dictionaries, a dictionary with metadata, numbers above 2^31 - 1 in a type.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "ipc/message.h"
#include "schema/build.h"
#include "schema/tree.h"

namespace arrowdevice::ipc {

// Returns the fields of a schema that have a dictionary: a field before the fields below it, and the values of a
// dictionary before the next field. Dictionary ids are listed in this order.
std::vector<int32_t> dictionary_fields(const schema::Tree& tree);

// Writes the schema of record batches. Each dictionary has its position in dictionary_fields() as its id. Throws EINVAL
// or ENOTSUP with the path of the field.
Bytes write_schema(const ArrowSchema& schema, const char* message_metadata = nullptr);

struct SchemaMessage {
  schema::UniqueSchema schema;
  // The ids of dictionary_fields(). Fields may share a dictionary.
  std::vector<int64_t> dictionary_ids;
};

// Reads the schema of record batches. The result is valid: schema::Tree accepts it. Throws EINVAL or ENOTSUP, with the
// path of the field if there is one. ENOTSUP stands for an unknown type and for big-endian data.
SchemaMessage read_schema(const Message& message);

}  // namespace arrowdevice::ipc
