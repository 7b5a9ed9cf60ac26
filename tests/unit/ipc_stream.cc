// SPDX-License-Identifier: Apache-2.0
#include "ipc_stream.h"

#include <cerrno>

#include "base/error.h"
#include "inspect/sizes.h"
#include "ipc/stream_reader.h"
#include "schema/copy.h"

namespace ipc_test {
namespace {

using namespace arrowdevice;  // NOLINT: the names of the library

void append(Bytes& stream, const void* bytes, size_t size) {
  const auto* const begin = static_cast<const uint8_t*>(bytes);
  stream.insert(stream.end(), begin, begin + size);
}

void append_message(Bytes& stream, const Bytes& metadata, const Bytes& body) {
  const auto size = static_cast<int32_t>(metadata.size());
  append(stream, &ipc::kContinuation, sizeof ipc::kContinuation);
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

// Each piece is memory of its own, so that the address sanitizer sees a read past its end.
class MemoryInput final : public ipc::Input {
 public:
  explicit MemoryInput(std::span<const uint8_t> stream) : left_(stream) {}

  std::shared_ptr<ipc::HostBytes> take(int64_t size) override {
    if (size < 0 || size > std::ssize(left_)) throw Error(EINVAL, "the stream ends in a message");
    const auto taken = left_.first(static_cast<size_t>(size));
    left_ = left_.subspan(static_cast<size_t>(size));
    return std::make_shared<HeapBody>(taken);
  }
  bool is_at_end() override { return left_.empty(); }

 private:
  std::span<const uint8_t> left_;
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
                         std::span<const ArrowArray* const> dictionaries) {
  auto owner = std::make_shared<HeapBody>(body);
  const ipc::Body memory{owner->address, owner->size, true};
  Owned<ArrowArray> out;
  ipc::array_over_body(schema::Tree(schema), columns, batch, memory, dictionaries, std::move(owner), out.out());
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
  const uint32_t end[] = {ipc::kContinuation, 0};
  append(stream, end, sizeof end);
  return stream;
}

ReadStream read_stream(std::span<const uint8_t> stream) {
  MemoryInput input(stream);
  ipc::StreamReader reader(input);
  ReadStream out;
  schema::copy(reader.schema(), out.schema.out());
  for (Owned<ArrowArray> batch; reader.next(batch.out());) out.batches.push_back(std::move(batch));
  return out;
}

}  // namespace ipc_test
