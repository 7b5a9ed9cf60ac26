// SPDX-License-Identifier: Apache-2.0
// Messages of Arrow's IPC format. A message is a flatbuffer: a header, custom metadata, and the size of a body. A
// stream or a link sends the body beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ipc/flat_reader.h"
#include "ipc/flat_writer.h"

namespace arrowdevice::ipc {

// Metadata of messages, schemas and fields is encoded as in schema/metadata.h. No pairs are no metadata.
using Metadata = std::optional<std::string>;

// A received message of version 4 or 5.
class Message {
 public:
  // The bytes must outlive the message, and no other process may change them. Throws EINVAL if the bytes are no
  // message, and ENOTSUP if the message has another version or a kind that the library does not read.
  explicit Message(std::span<const uint8_t> bytes);

  MessageKind kind() const noexcept { return kind_; }
  Version version() const noexcept { return version_; }
  int64_t body_length() const noexcept { return body_length_; }
  const Metadata& metadata() const noexcept { return metadata_; }

  // Returns the table of the header, which is valid as long as this object.
  const FlatTable& header() const noexcept { return header_; }

 private:
  FlatReader reader_;
  const FlatTable root_;
  const Version version_;
  const MessageKind kind_;
  const FlatTable header_;
  const int64_t body_length_;
  const Metadata metadata_;
};

// Returns "a schema", "a record batch" or another name of a kind for errors.
std::string name_of(MessageKind kind);

// Writes a message of version 5. `metadata` may be NULL.
Bytes write_message(FlatWriter& writer, MessageKind kind, Written header, int64_t body_length, const char* metadata);

// Reads or writes the key-value pairs in a slot of a table. `encoded` may be NULL.
Metadata read_metadata(const FlatTable& table, Slot slot);
Written write_metadata(FlatWriter& writer, const char* encoded);

}  // namespace arrowdevice::ipc
