// SPDX-License-Identifier: Apache-2.0
#include "inspect/view.h"

#include <algorithm>

#include "array/clone_structs.h"
#include "array/locate.h"
#include "base/scratch.h"
#include "inspect/sizes.h"
#include "inspect/validate.h"
#include "schema/metadata.h"

namespace arrowdevice::inspect {

namespace {

// Writes nodes into one block of memory, followed by the data that they point to: buffers, pointers to children, short
// texts.
class NodeWriter {
 public:
  // Allocates the block. Each field but the root is the child or dictionary of another.
  NodeWriter(size_t n_nodes, size_t n_buffers, std::unique_ptr<std::byte[]>& block,
             std::forward_list<std::string>& long_texts)
      : long_texts_(long_texts) {
    constexpr size_t kUsualTexts = 16;
    const size_t buffers_at = n_nodes * sizeof(arrowdevice_node);
    const size_t children_at = buffers_at + n_buffers * sizeof(arrowdevice_node_buffer);
    const size_t texts_at = children_at + n_nodes * sizeof(void*);
    block.reset(new std::byte[texts_at + n_nodes * kUsualTexts]);
    nodes_ = {reinterpret_cast<arrowdevice_node*>(block.get()), n_nodes};
    buffer_ = reinterpret_cast<arrowdevice_node_buffer*>(block.get() + buffers_at);
    child_ = reinterpret_cast<const arrowdevice_node**>(block.get() + children_at);
    text_ = {reinterpret_cast<char*>(block.get() + texts_at), n_nodes * kUsualTexts};
  }

  std::span<arrowdevice_node> nodes() const noexcept { return nodes_; }

  // Writes all members of a node but its buffers, which are added one by one before the next node begins.
  void begin(arrowdevice_node& node, const schema::Binding& bound, int32_t field) {
    const auto& described = bound.tree()[field];
    const auto& array = bound[field];
    node = {.name = nullptr,
            .format = nullptr,
            .metadata = nullptr,
            .extension_name = nullptr,
            .extension_metadata = nullptr,
            .extension_metadata_size = 0,
            .length = array.length,
            .offset = array.offset,
            .null_count = bound.null_count(field),
            .flags = described.source->flags,
            .layout = static_cast<int32_t>(described.type.layout),
            .n_buffers = 0,
            .n_children = described.n_children,
            .bit_width = described.type.bit_width,
            .list_size = described.type.list_size,
            .buffers = buffer_,
            .children = child_,
            .dictionary = described.dictionary >= 0 ? &nodes_[static_cast<size_t>(described.dictionary)] : nullptr,
            .array = &array,
            .reserved = {}};
    write_texts(node, bound.tree(), field);
    for (int32_t i = 0; i < described.n_children; ++i) {
      *child_++ = &nodes_[static_cast<size_t>(described.first_child + i)];
    }
  }

  void add_buffer(arrowdevice_node& node, std::span<const void* const> data, schema::BufferShape shape, int64_t size,
                  bool is_on_host) {
    const bool is_known = size != kUnknownSize;
    *buffer_++ = {
        .data = data[static_cast<size_t>(node.n_buffers++)],
        .size = is_known ? size : 0,
        .role = schema::buffer_role(shape),
        .flags = (is_known ? ARROWDEVICE_BUFFER_SIZE_KNOWN : 0u) | (is_on_host ? ARROWDEVICE_BUFFER_HOST : 0u),
        .reserved = 0};
  }

 private:
  void write_texts(arrowdevice_node& node, const schema::Tree& tree, int32_t field) {
    const ArrowSchema& schema = *tree[field].source;
    node.format = keep_short(schema.format);
    if (schema.name != nullptr) node.name = keep_short(schema.name);
    if (schema.metadata == nullptr) return;
    try {
      node.metadata = keep({schema.metadata, static_cast<size_t>(schema::metadata_size(schema.metadata))});
      if (const auto name = schema::metadata_find(schema.metadata, schema::kExtensionName)) {
        node.extension_name = keep(*name);
      }
      if (const auto value = schema::metadata_find(schema.metadata, schema::kExtensionMetadata)) {
        node.extension_metadata = keep(*value);
        node.extension_metadata_size = static_cast<int64_t>(value->size());
      }
    } catch (const Error& e) {
      throw Error(e.code(), tree.path(field) + ": " + e.message());
    }
  }

  // Copies a short text into the block. Names and formats are short, so a loop is faster than a function call.
  const char* keep_short(const char* text) {
    for (size_t i = 0; i < text_.size(); ++i) {
      text_[i] = text[i];
      if (text[i] != '\0') continue;
      const char* const kept = text_.data();
      text_ = text_.subspan(i + 1);
      return kept;
    }
    return keep(text);
  }

  const char* keep(std::string_view text) { return long_texts_.emplace_front(text).c_str(); }

  std::forward_list<std::string>& long_texts_;
  std::span<arrowdevice_node> nodes_;
  // The unused rest of the block.
  arrowdevice_node_buffer* buffer_;
  const arrowdevice_node** child_;
  std::span<char> text_;
};

}  // namespace

View::View(ArrowDeviceArray& moved, const ArrowSchema& schema, const ImportOptions& options)
    : owner_(std::make_shared<array::ImportedOwner>()) {
  array::check_alive(&moved);
  Scratch scratch;
  const schema::Tree tree(schema, scratch.memory());
  const schema::Binding bound(tree, moved.array, scratch.memory());
  device_ = &array::device_of(moved, options.source);
  use_.emplace(*device_);
  validate_data(bound, moved, &moved, *device_, options.level, options.deadline);
  fill(bound, moved, options, scratch.memory());
  owner_->array() = moved;
  nodes_.front().array = &owner_->array().array;
  moved.array.release = nullptr;
}

void View::fill(const schema::Binding& bound, ArrowDeviceArray& moved, const ImportOptions& options,
                std::pmr::memory_resource* scratch) {
  const auto& tree = bound.tree();
  const device::ForeignEvent event(*device_, moved.sync_event);
  if (options.queue != nullptr) event.wait_on(*options.queue, options.deadline.left());

  const bool on_host = device_->is_on_host();
  const bool may_look = options.learn_sizes || (on_host && moved.sync_event == nullptr);
  device::QueueLease lease;
  std::optional<transfer::SourceReader> contents;
  if (options.learn_sizes) event.wait(options.deadline.left());
  if (may_look && on_host) {
    contents.emplace();
  } else if (may_look) {
    lease = device::QueueLease(*device_);
    contents.emplace(*device_, *lease.get(), event, options.deadline, &moved);
  }
  // Sizes of variadic buffers are in host memory, but the producer may not have written them yet.
  const bool sizes_on_host =
      bound.has_variadic() && transfer::variadic_sizes_on_host(bound, *device_) && event.is_ready();
  const auto sizes = buffer_sizes(bound, contents ? &*contents : nullptr, sizes_on_host, scratch);

  NodeWriter writer(static_cast<size_t>(tree.size()), sizes.size(), block_, long_texts_);
  nodes_ = writer.nodes();
  auto size = sizes.begin();
  for (int32_t field = 0; field < tree.size(); ++field) {
    auto& node = nodes_[static_cast<size_t>(field)];
    writer.begin(node, bound, field);
    for (const auto shape : tree[field].type.info().buffers) {
      const int64_t repeat = shape == schema::BufferShape::kVariadic ? bound.n_variadic(field) : 1;
      const bool is_on_host = on_host || (shape == schema::BufferShape::kVariadicSizes && sizes_on_host);
      for (int64_t i = 0; i < repeat; ++i, ++size)
        writer.add_buffer(node, bound.buffers(field), shape, *size, is_on_host);
    }
  }
}

void View::share(ArrowDeviceArray* out) const {
  const auto& array = owner_->array();
  auto output = array::clone_structs(array.array);
  {
    const std::lock_guard lock(share_mutex_);
    if (!successor_) successor_.emplace(array::clone_structs(array.array));
  }
  *out = ArrowDeviceArray{};
  out->device_type = array.device_type;
  out->device_id = array.device_type == ARROW_DEVICE_CPU ? -1 : array.device_id;
  out->sync_event = array.sync_event;
  output.publish(owner_, &out->array);
}

void View::detach(ArrowDeviceArray* out) noexcept {
  ArrowDeviceArray detached = owner_->array();
  if (successor_) {
    successor_->publish(std::move(owner_), &detached.array);
  } else {
    owner_->array().array.release = nullptr;
  }
  array::make_canonical(detached);
  *out = detached;
}

void View::release_after(device::Queue& queue) {
  // Holds the view's reference to the array until then.
  struct Share final : device::Deferred {
    std::shared_ptr<array::ImportedOwner> owner;
  };
  auto share = std::make_unique<Share>();
  share->after = queue.record();
  share->owner = std::move(owner_);
  device::DeferredWork::instance().defer(std::move(share));
}

}  // namespace arrowdevice::inspect
