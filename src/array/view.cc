// SPDX-License-Identifier: Apache-2.0
#include "array/view.h"

#include <algorithm>

#include "array/mirror.h"
#include "array/sizes.h"
#include "array/source.h"
#include "array/validate.h"
#include "schema/metadata.h"

namespace arrowdevice::array {

View::View(ArrowDeviceArray& moved, const ArrowSchema& schema, const ImportOptions& options)
    : keeper_(std::make_shared<ForeignKeeper>()) {
  check_alive(&moved);
  const schema::Tree tree(schema);
  const schema::Binding bound(tree, moved.array);
  device_ = &device_of(moved, options.source);
  use_.emplace(*device_);
  validate_data(bound, moved, *device_, options.level, options.deadline);
  fill(bound, moved, options);
  keeper_->array() = moved;
  nodes_.front().array = &keeper_->array().array;
  moved.array.release = nullptr;
}

void View::fill(const schema::Binding& bound, const ArrowDeviceArray& moved, const ImportOptions& options) {
  const auto& tree = bound.tree();
  const device::ForeignEvent event(*device_, moved.sync_event);
  if (options.queue != nullptr) event.wait_on(*options.queue, options.deadline.left());

  const bool on_host = device_->has_addresses() && device_->is_host_readable();
  const bool may_look = options.learn_sizes || (on_host && moved.sync_event == nullptr);
  device::QueueLease lease;
  std::unique_ptr<transfer::Contents> contents;
  if (options.learn_sizes) event.wait(options.deadline.left());
  if (may_look && on_host) {
    contents = std::make_unique<transfer::Contents>();
  } else if (may_look) {
    lease = device::QueueLease(*device_);
    contents = std::make_unique<transfer::Contents>(*device_, *lease.get(), event, options.deadline);
  }
  const bool has_variadic = std::ranges::any_of(tree.fields(), [&](const auto& field) {
    return bound.n_variadic(static_cast<int32_t>(&field - tree.fields().data())) > 0;
  });
  // Sizes of variadic buffers lie in host memory, but the producer may not have written them yet.
  const bool sizes_on_host = has_variadic && transfer::variadic_sizes_on_host(bound, *device_) && event.is_ready();
  const auto sizes = buffer_sizes(bound, contents.get(), sizes_on_host);

  size_t n_children = 0;
  for (const auto& field : tree.fields()) n_children += static_cast<size_t>(field.n_children);
  nodes_.resize(static_cast<size_t>(tree.size()));
  buffers_.resize(sizes.bytes.size());
  children_.reserve(n_children);
  for (int32_t field = 0; field < tree.size(); ++field) {
    auto& node = nodes_[static_cast<size_t>(field)];
    auto* const buffers = buffers_.data() + sizes.first[static_cast<size_t>(field)];
    node.buffers = buffers;
    fill_node(bound, field);
    for (int32_t i = 0; i < node.n_buffers; ++i) {
      const int64_t size = sizes.bytes[sizes.first[static_cast<size_t>(field)] + static_cast<size_t>(i)];
      const bool is_variadic_sizes = buffers[i].role == ARROWDEVICE_ROLE_VARIADIC_SIZES;
      buffers[i].size = std::max<int64_t>(size, 0);
      if (size != kUnknownSize) buffers[i].flags |= ARROWDEVICE_BUFFER_SIZE_KNOWN;
      if (on_host || (is_variadic_sizes && sizes_on_host)) buffers[i].flags |= ARROWDEVICE_BUFFER_HOST;
    }
  }
}

void View::fill_node(const schema::Binding& bound, int32_t field) {
  const auto& described = bound.tree()[field];
  const auto& array = bound[field];
  const auto& info = described.type.info();
  auto& node = nodes_[static_cast<size_t>(field)];
  fill_texts(bound.tree(), field, node);
  node.length = array.length;
  node.offset = array.offset;
  node.null_count = bound.null_count(field);
  node.flags = described.source->flags;
  node.layout = static_cast<int32_t>(described.type.layout);
  node.bit_width = described.type.bit_width;
  node.list_size = described.type.list_size;
  node.array = &array;
  node.n_children = described.n_children;
  node.children = children_.data() + children_.size();
  for (int32_t i = 0; i < described.n_children; ++i) {
    children_.push_back(&nodes_[static_cast<size_t>(described.first_child + i)]);
  }
  if (described.dictionary >= 0) node.dictionary = &nodes_[static_cast<size_t>(described.dictionary)];
  auto* next = const_cast<arrowdevice_node_buffer*>(node.buffers);
  size_t position = 0;
  for (const auto shape : info.buffers) {
    const int64_t repeat = shape == schema::BufferShape::kVariadic ? bound.n_variadic(field) : 1;
    for (int64_t i = 0; i < repeat; ++i, ++next) {
      next->data = bound.buffers(field)[position++];
      next->role = schema::buffer_role(shape);
    }
  }
  node.n_buffers = static_cast<int32_t>(position);
}

const char* View::keep_text(const char* text, int64_t size) {
  return texts_.emplace_back(text, static_cast<size_t>(size)).c_str();
}

void View::fill_texts(const schema::Tree& tree, int32_t field, arrowdevice_node& node) {
  const ArrowSchema& schema = *tree[field].source;
  node.format = texts_.emplace_back(schema.format).c_str();
  if (schema.name != nullptr) node.name = texts_.emplace_back(schema.name).c_str();
  if (schema.metadata == nullptr) return;
  try {
    node.metadata = keep_text(schema.metadata, schema::metadata_size(schema.metadata));
    if (const auto name = schema::metadata_find(schema.metadata, schema::kExtensionName)) {
      node.extension_name = keep_text(name->data(), static_cast<int64_t>(name->size()));
    }
    if (const auto value = schema::metadata_find(schema.metadata, schema::kExtensionMetadata)) {
      node.extension_metadata = keep_text(value->data(), static_cast<int64_t>(value->size()));
      node.extension_metadata_size = static_cast<int64_t>(value->size());
    }
  } catch (const Error& e) {
    throw Error(e.code(), tree.path(field) + ": " + e.message());
  }
}

void View::share(ArrowDeviceArray* out) const {
  const auto& array = keeper_->array();
  const auto output = mirror(array.array);
  {
    const std::lock_guard lock(share_mutex_);
    if (successor_ == nullptr) successor_ = mirror(array.array);
  }
  *out = ArrowDeviceArray{};
  out->device_type = array.device_type;
  out->device_id = array.device_type == ARROW_DEVICE_CPU ? -1 : array.device_id;
  out->sync_event = array.sync_event;
  output->publish(keeper_, &out->array);
}

void View::detach(ArrowDeviceArray* out) noexcept {
  ArrowDeviceArray detached = keeper_->array();
  if (successor_ != nullptr) {
    successor_->publish(std::move(keeper_), &detached.array);
  } else {
    keeper_->array().array.release = nullptr;
  }
  *out = detached;
}

void View::release_after(device::Queue& queue) {
  // Holds the view's share of the array until then.
  struct Share final : device::Deferred {
    std::shared_ptr<ForeignKeeper> keeper;
  };
  auto share = std::make_unique<Share>();
  share->after = queue.record();
  share->keeper = std::move(keeper_);
  device::Reaper::instance().defer(std::move(share));
}

}  // namespace arrowdevice::array
