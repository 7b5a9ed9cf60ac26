// SPDX-License-Identifier: Apache-2.0
#include "ipc/batch_message.h"

#include <cerrno>
#include <string>

#include "base/error.h"

namespace arrowdevice::ipc {
namespace {

static_assert(sizeof(FieldNode) == 16 && sizeof(BodyBuffer) == 16);

std::string codec_name(int8_t codec) {
  switch (codec) {
    case 0: return "LZ4_FRAME";
    case 1: return "ZSTD";
    default: return "the unknown codec " + std::to_string(codec);
  }
}

FlatTable data_of_dictionary(const FlatTable& header) {
  const auto data = header.table(dictionary_batch::kData);
  if (!data) throw Error(EINVAL, "the dictionary batch has no data");
  return *data;
}

Written write_data(FlatWriter& writer, const Batch& batch) {
  const Written nodes = writer.vector<FieldNode>(batch.nodes);
  const Written buffers = writer.vector<BodyBuffer>(batch.buffers);
  const Written counts = batch.variadic_counts.empty() ? Written() : writer.vector<int64_t>(batch.variadic_counts);
  return writer.table([&] {
    writer.number<int64_t>(record_batch::kLength, batch.length, 0);
    writer.refer(record_batch::kNodes, nodes);
    writer.refer(record_batch::kBuffers, buffers);
    writer.refer(record_batch::kVariadicCounts, counts);
  });
}

}  // namespace

Bytes write_batch(const Batch& batch, const char* message_metadata) {
  FlatWriter writer;
  const Written data = write_data(writer, batch);
  if (!batch.dictionary) {
    return write_message(writer, MessageKind::kRecordBatch, data, batch.body_length, message_metadata);
  }
  const Written header = writer.table([&] {
    writer.number<int64_t>(dictionary_batch::kId, batch.dictionary->id, 0);
    writer.refer(dictionary_batch::kData, data);
    writer.number<bool>(dictionary_batch::kIsDelta, batch.dictionary->is_delta, false);
  });
  return write_message(writer, MessageKind::kDictionaryBatch, header, batch.body_length, message_metadata);
}

Batch read_batch(const Message& message) {
  const bool is_dictionary = message.kind() == MessageKind::kDictionaryBatch;
  if (!is_dictionary && message.kind() != MessageKind::kRecordBatch) {
    throw Error(EINVAL, "the message is " + name_of(message.kind()) + " (expected a batch)");
  }
  const FlatTable& header = message.header();
  const FlatTable data = is_dictionary ? data_of_dictionary(header) : header;
  if (const auto compressed = data.table(record_batch::kCompression)) {
    throw Error(ENOTSUP,
                "the body is compressed with " + codec_name(compressed->number<int8_t>(compression::kCodec, 0)));
  }
  Batch batch{.length = data.number<int64_t>(record_batch::kLength, 0),
              .nodes = data.vector<FieldNode>(record_batch::kNodes),
              .buffers = data.vector<BodyBuffer>(record_batch::kBuffers),
              .variadic_counts = data.vector<int64_t>(record_batch::kVariadicCounts),
              .body_length = message.body_length(),
              .dictionary = {},
              .has_union_bitmaps = message.version() == kVersion4};
  if (is_dictionary) {
    batch.dictionary = {.id = header.number<int64_t>(dictionary_batch::kId, 0),
                        .is_delta = header.number<bool>(dictionary_batch::kIsDelta, false)};
  }
  return batch;
}

}  // namespace arrowdevice::ipc
