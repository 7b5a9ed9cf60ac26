// SPDX-License-Identifier: Apache-2.0
#include "inspect/view.h"

#include <utility>

#include "array/clone_structs.h"
#include "array/locate.h"
#include "array/owners.h"
#include "base/scratch.h"
#include "device/devices.h"
#include "inspect/host_nodes.h"
#include "inspect/sizes.h"
#include "inspect/validate.h"

namespace arrowdevice::inspect {

// Returns false for an array that import() must look at.
[[gnu::always_inline]] inline bool View::import_from_host(const ArrowDeviceArray& moved, const ArrowSchema& schema,
                                                          const ImportOptions& options) {
  const bool is_on_cpu = moved.device_type == ARROW_DEVICE_CPU && (moved.device_id == -1 || moved.device_id == 0);
  const bool is_default = options.level == Level::kStructure && !options.learn_sizes && options.queue == nullptr &&
                          options.source == nullptr;
  if (!is_on_cpu || !is_default || moved.sync_event != nullptr) return false;
  device_ = &device::Devices::instance().cpu();
  return write_host_nodes(schema, moved.array, nodes_);
}

[[gnu::hot]] View::View(ArrowDeviceArray& moved, const ArrowSchema& schema, const ImportOptions& options) {
  array::check_alive(&moved);
  if (!import_from_host(moved, schema, options)) import(moved, schema, options);
  array_ = moved;
  nodes_.all.front().array = &array_.array;
  moved.array.release = nullptr;
}

[[gnu::hot]] View::~View() {
  if (shared_ != nullptr || array_.array.release == nullptr) return;
  array::OwnedArray released;
  released.array = array_;
}

void View::import(ArrowDeviceArray& moved, const ArrowSchema& schema, const ImportOptions& options) {
  Scratch scratch;
  const schema::Tree tree(schema, scratch.memory());
  const schema::Binding bound(tree, moved.array, scratch.memory());
  device_ = &array::device_of(moved, options.source);
  use_.emplace(*device_);
  validate_data(bound, moved, &moved, *device_, options.level, options.deadline);
  fill(bound, moved, options, scratch.memory());
}

void View::fill(const schema::Binding& bound, ArrowDeviceArray& moved, const ImportOptions& options,
                std::pmr::memory_resource* scratch) {
  const auto& tree = bound.tree();
  const device::ForeignEvent event(*device_, moved.sync_event);
  if (options.queue != nullptr) event.wait_on(*options.queue, options.deadline.left());

  if (options.learn_sizes) event.wait(options.deadline.left());
  const bool on_host = device_->is_on_host();
  // Sizes of variadic buffers are in host memory, but the producer may not have written them yet.
  const bool sizes_on_host =
      bound.has_variadic() && transfer::variadic_sizes_on_host(bound, *device_) && event.is_ready();
  const bool may_look = options.learn_sizes || (on_host && moved.sync_event == nullptr);
  const auto sizes = may_look ? read_buffer_sizes(bound, *device_, event, options.deadline, &moved, scratch)
                              : buffer_sizes(bound, nullptr, sizes_on_host, scratch);

  NodeWriter writer(tree.size(), static_cast<int64_t>(sizes.size()), nodes_);
  auto size = sizes.begin();
  for (int32_t field = 0; field < tree.size(); ++field) {
    auto& node = nodes_.all[static_cast<size_t>(field)];
    begin(writer, node, bound, field);
    const auto data = bound.buffers(field);
    for (const auto shape : tree[field].type.info().buffers) {
      const int64_t repeat = shape == schema::BufferShape::kVariadic ? bound.n_variadic(field) : 1;
      const bool is_on_host = on_host || (shape == schema::BufferShape::kVariadicSizes && sizes_on_host);
      for (int64_t i = 0; i < repeat; ++i, ++size) {
        const bool is_known = *size != kUnknownSize;
        writer.add_buffer(
            node, data[static_cast<size_t>(node.n_buffers)], shape, is_known ? *size : 0,
            (is_known ? ARROWDEVICE_BUFFER_SIZE_KNOWN : 0u) | (is_on_host ? ARROWDEVICE_BUFFER_HOST : 0u));
      }
    }
  }
}

void View::begin(NodeWriter& writer, arrowdevice_node& node, const schema::Binding& bound, int32_t field) {
  const auto& described = bound.tree()[field];
  try {
    writer.begin(node, *described.source, described.type, bound[field], bound.null_count(field));
  } catch (const Error& e) {
    throw Error(e.code(), bound.tree().path(field) + ": " + e.message());
  }
  for (int32_t i = 0; i < described.n_children; ++i) {
    writer.add_child(node, nodes_.all[static_cast<size_t>(described.first_child + i)]);
  }
  if (described.dictionary >= 0) node.dictionary = &nodes_.all[static_cast<size_t>(described.dictionary)];
}

void View::share(ArrowDeviceArray* out) const {
  auto output = array::clone_structs(array_.array);
  std::shared_ptr<array::ImportedOwner> owner;
  {
    const std::lock_guard lock(share_mutex_);
    if (shared_ == nullptr) {
      shared_.reset(new Shared{std::make_shared<array::ImportedOwner>(), array::clone_structs(array_.array)});
      shared_->owner->array() = array_;
    }
    owner = shared_->owner;
  }
  *out = ArrowDeviceArray{};
  out->device_type = array_.device_type;
  out->device_id = array_.device_type == ARROW_DEVICE_CPU ? -1 : array_.device_id;
  out->sync_event = array_.sync_event;
  output.publish(std::move(owner), &out->array);
}

void View::detach(ArrowDeviceArray* out) noexcept {
  ArrowDeviceArray detached = array_;
  if (shared_ != nullptr) shared_->successor.publish(std::move(shared_->owner), &detached.array);
  array_.array.release = nullptr;
  array::make_canonical(detached);
  *out = detached;
}

void View::release_after(device::Queue& queue) {
  // Holds the view's reference to a shared array until then.
  struct Share final : device::Deferred {
    std::shared_ptr<array::ImportedOwner> owner;
  };
  std::unique_ptr<device::Deferred> released;
  if (shared_ != nullptr) {
    auto share = std::make_unique<Share>();
    share->after = queue.record();
    share->owner = std::move(shared_->owner);
    released = std::move(share);
  } else {
    auto owned = std::make_unique<array::OwnedArray>();
    owned->after = queue.record();
    owned->array = std::exchange(array_, {});
    released = std::move(owned);
  }
  device::DeferredWork::instance().defer(std::move(released));
}

}  // namespace arrowdevice::inspect
