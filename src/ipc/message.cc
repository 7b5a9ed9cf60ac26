// SPDX-License-Identifier: Apache-2.0
#include "ipc/message.h"

#include <cerrno>

#include "base/error.h"
#include "schema/metadata.h"

namespace arrowdevice::ipc {
namespace {

Version read_version(const FlatTable& root) {
  const auto version = root.number<int16_t>(message::kVersion, 0);
  if (version != kVersion4 && version != kVersion5) {
    throw Error(ENOTSUP, "the message has metadata version V" + std::to_string(version + 1) + " (expected V4 or V5)");
  }
  return static_cast<Version>(version);
}

MessageKind read_kind(const FlatTable& root) {
  const auto kind = static_cast<MessageKind>(root.number<uint8_t>(message::kHeaderType, 0));
  switch (kind) {
    case MessageKind::kSchema:
    case MessageKind::kDictionaryBatch:
    case MessageKind::kRecordBatch: return kind;
    default:
      throw Error(ENOTSUP,
                  "the message is " + name_of(kind) + " (expected a schema, a record batch or a dictionary batch)");
  }
}

FlatTable read_header(const FlatTable& root) {
  const auto header = root.table(message::kHeader);
  if (!header) throw Error(EINVAL, "the message has no header");
  return *header;
}

int64_t read_body_length(const FlatTable& root) {
  const auto length = root.number<int64_t>(message::kBodyLength, 0);
  if (length < 0) throw Error(EINVAL, "the length of the body is " + std::to_string(length));
  return length;
}

}  // namespace

Message::Message(std::span<const uint8_t> bytes)
    : reader_(bytes),
      root_(reader_.root()),
      version_(read_version(root_)),
      kind_(read_kind(root_)),
      header_(read_header(root_)),
      body_length_(read_body_length(root_)),
      metadata_(read_metadata(root_, message::kMetadata)) {}

std::string name_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kSchema: return "a schema";
    case MessageKind::kDictionaryBatch: return "a dictionary batch";
    case MessageKind::kRecordBatch: return "a record batch";
    case MessageKind::kTensor: return "a tensor";
    case MessageKind::kSparseTensor: return "a sparse tensor";
  }
  return "of the unknown kind " + std::to_string(int{static_cast<uint8_t>(kind)});
}

Bytes write_message(FlatWriter& writer, MessageKind kind, Written header, int64_t body_length, const char* metadata) {
  const Written pairs = write_metadata(writer, metadata);
  return writer.finish(writer.table([&] {
    writer.number<int64_t>(message::kBodyLength, body_length, 0);
    writer.refer(message::kMetadata, pairs);
    writer.refer(message::kHeader, header);
    writer.number<int16_t>(message::kVersion, kVersion5, 0);
    writer.number<uint8_t>(message::kHeaderType, static_cast<uint8_t>(kind), 0);
  }));
}

Metadata read_metadata(const FlatTable& table, Slot slot) {
  const int64_t n = table.count(slot);
  if (n == 0) return std::nullopt;
  schema::MetadataPairs pairs;
  for (int64_t i = 0; i < n; ++i) {
    const FlatTable pair = table.element(slot, i);
    pairs.emplace_back(pair.text(key_value::kKey).value_or(""), pair.text(key_value::kValue).value_or(""));
  }
  return schema::encode_metadata(pairs);
}

Written write_metadata(FlatWriter& writer, const char* encoded) {
  std::vector<Written> written;
  for (const auto& [key, value] : schema::metadata_pairs(encoded)) {
    const Written key_text = writer.text(key);
    const Written value_text = writer.text(value);
    written.push_back(writer.table([&] {
      writer.refer(key_value::kKey, key_text);
      writer.refer(key_value::kValue, value_text);
    }));
  }
  return written.empty() ? Written() : writer.tables(written);
}

}  // namespace arrowdevice::ipc
