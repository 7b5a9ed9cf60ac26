// SPDX-License-Identifier: Apache-2.0
#include "ipc_stream.h"

#include <cerrno>
#include <map>
#include <string>

#include "base/error.h"
#include "inspect/sizes.h"

namespace ipc_test {
namespace {

using namespace arrowdevice;  // NOLINT: the names of the library
using SharedArray = std::shared_ptr<const Owned<ArrowArray>>;

constexpr uint32_t kContinuation = 0xFFFFFFFF;

void append(Bytes& stream, const void* bytes, size_t size) {
  const auto* const begin = static_cast<const uint8_t*>(bytes);
  stream.insert(stream.end(), begin, begin + size);
}

void append_message(Bytes& stream, const Bytes& metadata, const Bytes& body) {
  const auto size = static_cast<int32_t>(metadata.size());
  append(stream, &kContinuation, sizeof kContinuation);
  append(stream, &size, sizeof size);
  append(stream, metadata.data(), metadata.size());
  append(stream, body.data(), body.size());
}

// Writes the dictionaries of a node's subtree, inner ones first. Returns the id behind them.
int64_t append_dictionaries(Bytes& stream, const ArrowSchema& schema, const ArrowArray& array, int64_t id) {
  if (schema.dictionary != nullptr) {
    const int64_t own_id = id;
    id = append_dictionaries(stream, *schema.dictionary, *array.dictionary, id + 1);
    auto packed = pack(*schema.dictionary, *array.dictionary, Columns::kRoot);
    packed.batch.dictionary = {.id = own_id, .is_delta = false};
    append_message(stream, ipc::write_batch(packed.batch), packed.body);
  }
  for (int64_t i = 0; i < schema.n_children; ++i) {
    id = append_dictionaries(stream, *schema.children[i], *array.children[i], id);
  }
  return id;
}

class StreamReader {
 public:
  explicit StreamReader(std::span<const uint8_t> stream) : left_(stream) {}

  ReadStream read() {
    while (const int32_t size = next_size()) {
      const auto metadata = take(size);
      const ipc::Message message(metadata);
      const auto body = take(message.body_length());
      if (message.kind() == ipc::MessageKind::kSchema) {
        read_schema(message);
      } else {
        read_batch(ipc::read_batch(message), body);
      }
    }
    return std::move(out_);
  }

 private:
  std::span<const uint8_t> take(int64_t size) {
    if (size < 0 || size > std::ssize(left_)) throw Error(EINVAL, "the stream ends in a message");
    const auto taken = left_.first(static_cast<size_t>(size));
    left_ = left_.subspan(static_cast<size_t>(size));
    return taken;
  }

  uint32_t number() {
    uint32_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  // Returns the size of the next metadata, or 0 at the end. Old streams have no continuation.
  int32_t next_size() {
    if (left_.empty()) return 0;
    const uint32_t first = number();
    return static_cast<int32_t>(first == kContinuation ? number() : first);
  }

  void read_schema(const ipc::Message& message) {
    auto read = ipc::read_schema(message);
    out_.schema = Owned<ArrowSchema>(read.schema.take());
    ids_ = std::move(read.dictionary_ids);
    if (fields().size() != ids_.size()) throw std::logic_error("another number of dictionaries than ids");
  }

  std::vector<int32_t> fields() const { return ipc::dictionary_fields(schema::Tree(*out_.schema)); }

  void read_batch(const Batch& batch, std::span<const uint8_t> body) {
    if (out_.schema.released()) throw Error(EINVAL, "the stream has a batch before its schema");
    if (!batch.dictionary) {
      out_.batches.push_back(unpack(*out_.schema, Columns::kChildren, batch, body, dictionaries(0, ids_.size())));
      return;
    }
    const auto found = std::ranges::find(ids_, batch.dictionary->id);
    if (found == ids_.end() || batch.dictionary->is_delta) throw Error(EINVAL, "the dictionary is of no field");
    const auto at = static_cast<size_t>(found - ids_.begin());
    const schema::Tree tree(*out_.schema);
    const ArrowSchema& values = *tree[fields()[at]].source->dictionary;
    const size_t n_below = ipc::dictionary_fields(schema::Tree(values)).size();
    known_[batch.dictionary->id] = std::make_shared<const Owned<ArrowArray>>(
        unpack(values, Columns::kRoot, batch, body, dictionaries(at + 1, n_below)));
  }

  std::vector<SharedArray> dictionaries(size_t first, size_t n) const {
    std::vector<SharedArray> found;
    for (size_t i = first; i < first + n; ++i) {
      const auto known = known_.find(ids_[i]);
      found.push_back(known == known_.end() ? nullptr : known->second);
    }
    return found;
  }

  std::span<const uint8_t> left_;
  ReadStream out_;
  std::vector<int64_t> ids_;
  std::map<int64_t, SharedArray> known_;
};

}  // namespace

PackedBatch pack(const ArrowSchema& schema, const ArrowArray& array, Columns columns) {
  const schema::Tree tree(schema);
  const schema::Binding bound(tree, array);
  transfer::SourceReader contents;
  const auto sizes = inspect::buffer_sizes(bound, &contents, true, std::pmr::new_delete_resource());
  const auto plan = ipc::plan_body(bound, columns, sizes, true);
  PackedBatch packed{plan.batch, Bytes(static_cast<size_t>(plan.batch.body_length), 0x5C)};
  ipc::write_body(plan, packed.body.data());
  return packed;
}

Owned<ArrowArray> unpack(const ArrowSchema& schema, Columns columns, const Batch& batch, std::span<const uint8_t> body,
                         std::vector<SharedArray> dictionaries) {
  auto owner = std::make_shared<HeapBody>(body);
  std::vector<const ArrowArray*> arrays;
  for (const auto& dictionary : dictionaries) arrays.push_back(dictionary == nullptr ? nullptr : dictionary->get());
  owner->dictionaries = std::move(dictionaries);
  const ipc::Body memory{owner->address, owner->size, true};
  Owned<ArrowArray> out;
  ipc::array_over_body(schema::Tree(schema), columns, batch, memory, arrays, std::move(owner), out.out());
  return out;
}

Bytes write_stream(const ArrowSchema& schema, const std::vector<const ArrowArray*>& batches) {
  Bytes stream;
  append_message(stream, ipc::write_schema(schema), {});
  for (const auto* batch : batches) {
    append_dictionaries(stream, schema, *batch, 0);
    const auto packed = pack(schema, *batch, Columns::kChildren);
    append_message(stream, ipc::write_batch(packed.batch), packed.body);
  }
  const uint32_t end[] = {kContinuation, 0};
  append(stream, end, sizeof end);
  return stream;
}

ReadStream read_stream(std::span<const uint8_t> stream) { return StreamReader(stream).read(); }

}  // namespace ipc_test
