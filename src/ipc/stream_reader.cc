// SPDX-License-Identifier: Apache-2.0
#include "ipc/stream_reader.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "ipc/array_over_body.h"
#include "ipc/schema_message.h"

namespace arrowdevice::ipc {
namespace {

Message message_of(const HostBytes& metadata) {
  return Message({metadata.address, static_cast<size_t>(metadata.size)});
}

}  // namespace

// The values of a dictionary.
class StreamReader::Dictionary {
 public:
  Dictionary() = default;
  ~Dictionary() {
    if (array_.release != nullptr) array_.release(&array_);
  }
  Dictionary(const Dictionary&) = delete;

  const ArrowArray& array() const noexcept { return array_; }
  ArrowArray* out() noexcept { return &array_; }

 private:
  ArrowArray array_{};
};

// Keeps the memory of a batch: its body and its dictionaries.
class StreamReader::BatchOwner final : public array::BufferOwner {
 public:
  BatchOwner(std::shared_ptr<HostBytes> body, std::vector<std::shared_ptr<const Dictionary>> dictionaries)
      : body_(std::move(body)), dictionaries_(std::move(dictionaries)) {}

 private:
  const std::shared_ptr<HostBytes> body_;
  const std::vector<std::shared_ptr<const Dictionary>> dictionaries_;
};

StreamReader::StreamReader(Input& input) : input_(input) {
  const Received received = receive();
  if (received.metadata == nullptr) throw Error(EINVAL, "it has no schema");
  const Message message = message_of(*received.metadata);
  if (message.kind() != MessageKind::kSchema) {
    throw Error(EINVAL, "the stream begins with " + name_of(message.kind()) + " (expected a schema)");
  }
  SchemaMessage read = read_schema(message);
  schema_ = std::move(read.schema);
  const schema::Tree tree(schema());
  const auto fields = dictionary_fields(tree);
  for (size_t i = 0; i < fields.size(); ++i) {
    const ArrowSchema& values = *tree[fields[i]].source->dictionary;
    encoded_.push_back({.id = read.dictionary_ids.at(i),
                        .values = &values,
                        .n_below = dictionary_fields(schema::Tree(values)).size()});
  }
}

bool StreamReader::next(ArrowArray* out) {
  while (true) {
    const Received received = receive();
    if (received.metadata == nullptr) return false;
    const Batch batch = read_batch(message_of(*received.metadata));
    if (batch.dictionary) {
      read_dictionary(batch, received.body);
    } else {
      make_array(schema(), false, 0, encoded_.size(), batch, received.body, out);
      return true;
    }
  }
}

StreamReader::Received StreamReader::receive() {
  const int32_t size = next_size();
  if (size == 0) return {};
  if (size < 0) throw Error(EINVAL, "a message has " + std::to_string(size) + " bytes");
  Received received{.metadata = input_.take(size), .body = nullptr};
  received.body = input_.take(message_of(*received.metadata).body_length());
  return received;
}

// Returns the size of the next metadata, or 0 at the end. Old streams have no continuation.
int32_t StreamReader::next_size() {
  if (input_.is_at_end()) return 0;
  const uint32_t first = next_number();
  return static_cast<int32_t>(first == kContinuation ? next_number() : first);
}

uint32_t StreamReader::next_number() {
  uint32_t value = 0;
  std::memcpy(&value, input_.take(sizeof value)->address, sizeof value);
  return value;
}

// Each field with the id gets an array of its own, because its values may have another type.
void StreamReader::read_dictionary(const Batch& batch, const std::shared_ptr<HostBytes>& body) {
  const int64_t id = batch.dictionary->id;
  const std::string name = "dictionary " + std::to_string(id);
  if (batch.dictionary->is_delta) throw Error(ENOTSUP, name + " is sent in parts (a delta)");
  bool is_known = false;
  for (size_t i = 0; i < encoded_.size(); ++i) {
    if (encoded_[i].id != id) continue;
    auto made = std::make_shared<Dictionary>();
    try {
      make_array(*encoded_[i].values, true, i + 1, encoded_[i].n_below, batch, body, made->out());
    } catch (const Error& error) {
      throw Error(error.code(), name + ": " + error.message());
    }
    encoded_[i].dictionary = std::move(made);
    is_known = true;
  }
  if (!is_known) throw Error(EINVAL, name + " is of no field");
}

// `first` and `n` are the positions of the dictionaries in `encoded_`.
void StreamReader::make_array(const ArrowSchema& type, bool is_dictionary, size_t first, size_t n, const Batch& batch,
                              std::shared_ptr<HostBytes> body, ArrowArray* out) const {
  std::vector<std::shared_ptr<const Dictionary>> owners;
  std::vector<const ArrowArray*> arrays;
  for (size_t i = first; i < first + n; ++i) {
    owners.push_back(encoded_[i].dictionary);
    arrays.push_back(owners.back() == nullptr ? nullptr : &owners.back()->array());
  }
  const Body memory{.address = body->address, .size = body->size, .is_on_host = true};
  array_over_body(schema::Tree(type), is_dictionary ? Columns::kRoot : Columns::kChildren, batch, memory, arrays,
                  std::make_shared<BatchOwner>(std::move(body), std::move(owners)), out);
}

}  // namespace arrowdevice::ipc
