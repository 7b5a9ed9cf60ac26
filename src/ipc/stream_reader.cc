// SPDX-License-Identifier: Apache-2.0
#include "ipc/stream_reader.h"

#include <algorithm>
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

std::vector<int32_t> fields_with_dictionaries(const ArrowSchema& schema) {
  return dictionary_fields(schema::Tree(schema));
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
  if (received.metadata == nullptr) throw Error(EINVAL, "the stream is empty");
  const Message message = message_of(*received.metadata);
  if (message.kind() != MessageKind::kSchema) {
    throw Error(EINVAL, "the stream begins with " + name_of(message.kind()) + " (expected a schema)");
  }
  SchemaMessage read = read_schema(message);
  schema_ = std::move(read.schema);
  ids_ = std::move(read.dictionary_ids);
}

bool StreamReader::next(ArrowArray* out) {
  while (true) {
    const Received received = receive();
    if (received.metadata == nullptr) return false;
    const Batch batch = read_batch(message_of(*received.metadata));
    if (batch.dictionary) {
      read_dictionary(batch, received.body);
    } else {
      make_array(schema(), false, 0, ids_.size(), batch, received.body, out);
      return true;
    }
  }
}

StreamReader::Received StreamReader::receive() {
  const int32_t size = next_size();
  if (size == 0) return {};
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

void StreamReader::read_dictionary(const Batch& batch, std::shared_ptr<HostBytes> body) {
  const int64_t id = batch.dictionary->id;
  const auto found = std::ranges::find(ids_, id);
  if (found == ids_.end()) throw Error(EINVAL, "dictionary " + std::to_string(id) + " is of no field");
  if (batch.dictionary->is_delta) {
    throw Error(ENOTSUP, "dictionary " + std::to_string(id) + " is sent in parts (a delta)");
  }
  const auto at = static_cast<size_t>(found - ids_.begin());
  const schema::Tree tree(schema());
  const ArrowSchema& values = *tree[fields_with_dictionaries(schema())[at]].source->dictionary;
  auto made = std::make_shared<Dictionary>();
  make_array(values, true, at + 1, fields_with_dictionaries(values).size(), batch, std::move(body), made->out());
  dictionaries_[id] = std::move(made);
}

void StreamReader::make_array(const ArrowSchema& type, bool is_dictionary, size_t first_id, size_t n_ids,
                              const Batch& batch, std::shared_ptr<HostBytes> body, ArrowArray* out) const {
  std::vector<std::shared_ptr<const Dictionary>> owners;
  std::vector<const ArrowArray*> arrays;
  for (size_t i = first_id; i < first_id + n_ids; ++i) {
    const auto known = dictionaries_.find(ids_[i]);
    owners.push_back(known == dictionaries_.end() ? nullptr : known->second);
    arrays.push_back(owners.back() == nullptr ? nullptr : &owners.back()->array());
  }
  const Body memory{.address = body->address, .size = body->size, .is_on_host = true};
  array_over_body(schema::Tree(type), is_dictionary ? Columns::kRoot : Columns::kChildren, batch, memory, arrays,
                  std::make_shared<BatchOwner>(std::move(body), std::move(owners)), out);
}

}  // namespace arrowdevice::ipc
