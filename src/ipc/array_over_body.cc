// SPDX-License-Identifier: Apache-2.0
#include "ipc/array_over_body.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "array/clone_structs.h"
#include "base/checked.h"
#include "base/text.h"
#include "ipc/schema_message.h"
#include "transfer/extents.h"

namespace arrowdevice::ipc {
namespace {

using schema::BufferShape;

class BodyOwner final : public array::BufferOwner {
 public:
  BodyOwner(std::shared_ptr<BufferOwner> body, size_t n_sizes) : body_(std::move(body)) { sizes_.reserve(n_sizes); }

  // Keeps the sizes of a binary view's buffers. The addresses of earlier ones stay valid.
  void add_size(int64_t size) { sizes_.push_back(size); }
  const int64_t* next_size() const noexcept { return sizes_.data() + sizes_.size(); }

 private:
  const std::shared_ptr<BufferOwner> body_;
  std::vector<int64_t> sizes_;
};

std::string counts_text(const char* things, size_t given, size_t needed) {
  return "the batch has " + std::to_string(given) + " " + things + " (expected " + std::to_string(needed) + ")";
}

// Makes the structs in its own memory, so that they can be checked as a whole before they are published.
class Making {
 public:
  Making(const schema::Tree& tree, Columns columns, const Batch& batch, const Body& body,
         std::shared_ptr<array::BufferOwner> owner)
      : tree_(tree),
        columns_(columns),
        batch_(batch),
        body_(body),
        owner_(std::make_shared<BodyOwner>(std::move(owner), batch.buffers.size())),
        nodes_(static_cast<size_t>(tree.size())),
        pointers_(nodes_.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) pointers_[i] = &nodes_[i];
  }

  void run(std::span<const ArrowArray* const> dictionaries, ArrowArray* out) {
    check_batch();
    const auto fields = fields_in_order(tree_, columns_);
    if (fields.size() != batch_.nodes.size()) refuse(0, counts_text("nodes", batch_.nodes.size(), fields.size()));
    // Each field needs room for its buffers, and for the sizes of views or the bitmap of the root.
    buffers_.reserve(batch_.buffers.size() + fields.size() + 1);
    if (columns_ == Columns::kChildren) add_root();
    for (size_t i = 0; i < fields.size(); ++i) add_field(fields[i], batch_.nodes[i]);
    if (next_buffer_ != batch_.buffers.size()) refuse(0, counts_text("buffers", batch_.buffers.size(), next_buffer_));
    if (next_count_ != batch_.variadic_counts.size()) {
      refuse(0, counts_text("variadic counts", batch_.variadic_counts.size(), next_count_));
    }
    set_dictionaries(dictionaries);
    const schema::Binding checked(tree_, nodes_[0]);
    array::clone_structs(nodes_[0]).publish(std::move(owner_), out);
  }

 private:
  [[noreturn, gnu::cold]] void refuse(int32_t field, const std::string& why) const {
    throw Error(EINVAL, tree_.path(field) + ": " + why);
  }

  void check_batch() const {
    if (batch_.length < 0) refuse(0, "the batch has length " + std::to_string(batch_.length));
    if (batch_.body_length < 0 || batch_.body_length > body_.size) {
      refuse(0, "the body has " + std::to_string(body_.size) + " bytes, and the message says " +
                    std::to_string(batch_.body_length));
    }
  }

  void add_root() {
    init(0, {batch_.length, 0});
    buffers_.push_back(nullptr);
    nodes_[0].n_buffers = 1;
  }

  ArrowArray& init(int32_t field, const FieldNode& node) {
    const auto& described = tree_[field];
    ArrowArray& array = nodes_[static_cast<size_t>(field)];
    array.length = node.length;
    array.null_count = node.null_count;
    array.buffers = buffers_.data() + buffers_.size();
    array.n_children = described.n_children;
    array.children = described.n_children > 0 ? &pointers_[static_cast<size_t>(described.first_child)] : nullptr;
    array.release = [](ArrowArray*) {};
    return array;
  }

  void add_field(int32_t field, const FieldNode& node) {
    const bool is_column = tree_[field].parent == (columns_ == Columns::kChildren ? 0 : -1);
    if (node.length < 0) refuse(field, "length is " + std::to_string(node.length));
    if (is_column && node.length != batch_.length) {
      refuse(field, "length is " + std::to_string(node.length) + ", and the batch has length " +
                        std::to_string(batch_.length));
    }
    ArrowArray& array = init(field, node);
    if (tree_[field].type.layout == schema::Layout::kNull) array.null_count = node.length;
    const size_t first = buffers_.size();
    const auto& info = tree_[field].type.info();
    if (batch_.has_union_bitmaps && tree_[field].type.union_map >= 0) take(field, BufferShape::kValidity, 0);
    for (const auto shape : info.buffers) {
      switch (shape) {
        case BufferShape::kVariadic: add_variadic(field); break;
        case BufferShape::kVariadicSizes: break;
        case BufferShape::kValidity: add_validity(field, node); break;
        default: add_buffer(field, shape, node.length); break;
      }
    }
    array.n_buffers = static_cast<int64_t>(buffers_.size() - first);
  }

  // Returns the next buffer of the batch, which lies in the body and has at least `needed` bytes.
  BodyBuffer take(int32_t field, BufferShape shape, int64_t needed) {
    const std::string_view name = schema::buffer_name(shape);
    if (next_buffer_ == batch_.buffers.size()) {
      refuse(field, "the batch has only " + std::to_string(next_buffer_) + " buffers");
    }
    const BodyBuffer buffer = batch_.buffers[next_buffer_++];
    const auto refuse_buffer = [&, this](const std::string& why) {
      refuse(field, "the " + std::string(name) + " buffer with offset " + std::to_string(buffer.offset) +
                        " and length " + std::to_string(buffer.length) + " " + why);
    };
    const int64_t size = batch_.body_length;
    if (buffer.offset < 0 || buffer.length < 0 || buffer.length > size || buffer.offset > size - buffer.length) {
      refuse_buffer("is outside of the body, which has " + bytes_text(size));
    }
    if (buffer.length > 0 && buffer.offset % kLeastAlignment != 0) refuse_buffer("is not aligned to 8 bytes");
    // Buffers do not overlap, so that a small body cannot look like a huge array.
    if (buffer.length > size - taken_bytes_) refuse_buffer("overlaps others, because all need more than the body");
    taken_bytes_ += buffer.length;
    if (buffer.length < needed) refuse_buffer("is too short, " + bytes_text(needed) + " are needed");
    return buffer;
  }

  const uint8_t* address_of(const BodyBuffer& buffer) const {
    return buffer.length == 0 ? nullptr : static_cast<const uint8_t*>(body_.address) + buffer.offset;
  }

  void add_validity(int32_t field, const FieldNode& node) {
    // Without nulls the bitmap may have any length. Binding refuses nulls without a bitmap.
    const auto buffer = take(field, BufferShape::kValidity, 0);
    const bool is_read = node.null_count != 0 && buffer.length > 0;
    if (is_read && buffer.length < bytes_for_bits(node.length)) {
      refuse(field,
             "the validity buffer has " + bytes_text(buffer.length) + ", length is " + std::to_string(node.length));
    }
    buffers_.push_back(is_read ? address_of(buffer) : nullptr);
  }

  void add_buffer(int32_t field, BufferShape shape, int64_t slots) {
    const auto buffer = take(field, shape, slots > 0 ? least_bytes(field, shape, slots) : 0);
    buffers_.push_back(address_of(buffer));
    if (!body_.is_on_host) return;
    if (shape == BufferShape::kOffsets && slots == 0) buffers_.back() = kZeroOffset;
    if (shape == BufferShape::kBytes && slots > 0) check_last_offset(field, slots, buffer.length);
  }

  int64_t least_bytes(int32_t field, BufferShape shape, int64_t slots) const {
    try {
      return schema::buffer_bytes(tree_[field].type, shape, slots);
    } catch (const Error& error) {
      refuse(field, "length is " + std::to_string(slots) + ": " + error.message());
    }
  }

  void check_last_offset(int32_t field, int64_t slots, int64_t bytes) const {
    const auto* const offsets = static_cast<const uint8_t*>(buffers_[buffers_.size() - 2]);
    const int64_t last = transfer::load_index(offsets, slots, tree_[field].type.info().offset_bytes);
    if (last < 0 || last > bytes) {
      refuse(field, "the last offset is " + std::to_string(last) + ", and there are " + bytes_text(bytes) + " of data");
    }
  }

  void add_variadic(int32_t field) {
    if (next_count_ == batch_.variadic_counts.size()) {
      refuse(field, "the batch has only " + std::to_string(next_count_) + " variadic counts");
    }
    const int64_t n = batch_.variadic_counts[next_count_++];
    const auto left = static_cast<int64_t>(batch_.buffers.size() - next_buffer_);
    if (n < 0 || n > left) {
      refuse(field, "the variadic count is " + std::to_string(n) + ", and " + std::to_string(left) +
                        " buffers of the batch are left");
    }
    const int64_t* const sizes = owner_->next_size();
    for (int64_t i = 0; i < n; ++i) {
      const auto buffer = take(field, BufferShape::kVariadic, 0);
      buffers_.push_back(address_of(buffer));
      owner_->add_size(buffer.length);
    }
    buffers_.push_back(n > 0 ? sizes : nullptr);
  }

  void set_dictionaries(std::span<const ArrowArray* const> dictionaries) {
    const auto fields = dictionary_fields(tree_);
    if (fields.size() != dictionaries.size()) {
      refuse(0, "there are " + std::to_string(dictionaries.size()) + " dictionaries (expected " +
                    std::to_string(fields.size()) + ")");
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      // Binding refuses a dictionary that is missing. Structs below a dictionary are those of the dictionary itself.
      nodes_[static_cast<size_t>(fields[i])].dictionary = const_cast<ArrowArray*>(dictionaries[i]);
    }
  }

  const schema::Tree& tree_;
  const Columns columns_;
  const Batch& batch_;
  const Body& body_;
  std::shared_ptr<BodyOwner> owner_;
  std::vector<ArrowArray> nodes_;      // of each field of the tree; unused below dictionaries
  std::vector<ArrowArray*> pointers_;  // to each node
  std::vector<const void*> buffers_;
  size_t next_buffer_ = 0;
  size_t next_count_ = 0;
  int64_t taken_bytes_ = 0;
};

}  // namespace

void array_over_body(const schema::Tree& tree, Columns columns, const Batch& batch, const Body& body,
                     std::span<const ArrowArray* const> dictionaries, std::shared_ptr<array::BufferOwner> owner,
                     ArrowArray* out) {
  Making(tree, columns, batch, body, std::move(owner)).run(dictionaries, out);
}

}  // namespace arrowdevice::ipc
