// SPDX-License-Identifier: Apache-2.0
#include "link/opened_array.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "array/clone_structs.h"
#include "array/owners.h"
#include "backend/device_types.h"
#include "base/scratch.h"
#include "base/text.h"
#include "device/devices.h"
#include "inspect/sizes.h"

namespace arrowdevice::link {
namespace {

std::string uuid_text(const uint8_t (&uuid)[16]) {
  std::string text;
  for (const uint8_t byte : uuid) text += format("%02x", byte);
  return text;
}

// Returns the device with that id if it has the UUID, and else NULL, also if the device cannot be opened.
device::Device* device_if_same(const HandleMessage& message, int64_t id) {
  try {
    auto& device = device::Devices::instance().get(message.device_type, id);
    const bool is_same = std::memcmp(device.info().uuid, message.device_uuid, sizeof message.device_uuid) == 0;
    return is_same ? &device : nullptr;
  } catch (const Error& error) {
    if (error.code() == EMFILE || error.code() == ENFILE || error.code() == ENOMEM) throw;
    return nullptr;  // a device that is broken or reserved is not the one, or is reported as absent
  }
}

// The sizes of an array's variadic buffers, which are in host memory.
struct WithSizes final : array::BufferOwner {
  std::shared_ptr<array::BufferOwner> buffers;
  std::vector<int64_t> variadic_sizes;
};

// Makes the structs of the array in its own memory, so that they are checked as a whole before they are published.
class Opening {
 public:
  Opening(const schema::Tree& tree, const HandleMessage& message, device::Device& device)
      : tree_(tree),
        message_(message),
        device_(device),
        owner_(std::make_shared<WithSizes>()),
        nodes_(static_cast<size_t>(tree.size())),
        pointers_(nodes_.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) pointers_[i] = &nodes_[i];
  }

  // Checks the numbers and locations in the message.
  void check(const OpenedAllocations& opened) const {
    if (message_.nodes.size() != nodes_.size()) {
      refuse(0, "the message has " + std::to_string(message_.nodes.size()) + " nodes (expected " +
                    std::to_string(nodes_.size()) + ")");
    }
    size_t next = 0;
    for (int32_t field = 0; field < tree_.size(); ++field) {
      const int64_t n = message_.nodes[static_cast<size_t>(field)].n_buffers;
      const auto left = static_cast<int64_t>(message_.buffers.size() - next);
      if (n < 0 || n > left) {
        refuse(field, "n_buffers is " + std::to_string(n) + ", and " + std::to_string(left) +
                          " buffers of the message are left");
      }
      for (int64_t i = 0; i < n; ++i) {
        const bool is_made_here = i == n - 1 && tree_[field].type.info().is_variadic && device_.has_addresses();
        check(field, message_.buffers[next++], opened, is_made_here);
      }
    }
    if (next != message_.buffers.size()) {
      refuse(0, "the message has " + std::to_string(message_.buffers.size()) + " buffers (expected " +
                    std::to_string(next) + ")");
    }
  }

  // Publishes the array over those buffers, without reading them.
  void publish(Buffers buffers, ArrowDeviceArray* out) {
    buffers_ = std::move(buffers.pointers);
    owner_->buffers = std::move(buffers.owner);
    owner_->variadic_sizes.reserve(buffers_.size());
    size_t first = 0;
    for (int32_t field = 0; field < tree_.size(); ++field) first += add_field(field, first);
    Scratch scratch;
    const schema::Binding bound(tree_, nodes_.front(), scratch.memory());
    check_sizes(bound, inspect::buffer_sizes(bound, nullptr, device_.has_addresses(), scratch.memory()));
    array::clone_structs(nodes_.front()).publish(owner_, &out->array);
    out->device_type = device_.type();
    out->device_id = device_.published_id();
  }

  // Checks that the data needs no more bytes than there are. If the call ends early, the device still reads the array.
  void check_data(ArrowDeviceArray& array, const Deadline& deadline) const {
    Scratch scratch;
    const schema::Binding bound(tree_, array.array, scratch.memory());
    const device::ForeignEvent ready(device_, nullptr);
    check_sizes(bound, inspect::read_buffer_sizes(bound, device_, ready, deadline, &array, scratch.memory()));
  }

 private:
  [[noreturn, gnu::cold]] void refuse(int32_t field, const std::string& why) const {
    throw Error(EINVAL, tree_.path(field) + ": " + why);
  }

  void check(int32_t field, const MessageBuffer& buffer, const OpenedAllocations& opened, bool is_made_here) const {
    const auto refuse_buffer = [&, this](const std::string& why) {
      refuse(field, "the buffer with offset " + std::to_string(buffer.offset) + " and length " +
                        std::to_string(buffer.length) + " " + why);
    };
    if (buffer.length < 0 || buffer.offset < 0) refuse_buffer("is not possible");
    if (buffer.allocation == MessageBuffer::kNone) {
      if (buffer.length > 0 && !is_made_here) refuse_buffer("has no allocation");
      return;
    }
    if (buffer.allocation < 0 || buffer.allocation >= std::ssize(opened.allocations)) {
      refuse_buffer("is in allocation " + std::to_string(buffer.allocation) + " of " +
                    std::to_string(opened.allocations.size()));
    }
    const int64_t size = opened.allocations[static_cast<size_t>(buffer.allocation)]->size();
    if (buffer.length > size || buffer.offset > size - buffer.length) {
      refuse_buffer("is outside of its allocation, which has " + bytes_text(size));
    }
  }

  // Adds the struct of a field, whose buffers begin at `first`. Returns their number.
  size_t add_field(int32_t field, size_t first) {
    const auto& described = tree_[field];
    const auto& node = message_.nodes[static_cast<size_t>(field)];
    ArrowArray& array = nodes_[static_cast<size_t>(field)];
    array.length = node.length;
    array.null_count = node.null_count;
    array.offset = node.offset;
    array.n_buffers = node.n_buffers;
    array.buffers = buffers_.data() + first;
    array.n_children = described.n_children;
    array.children = described.n_children > 0 ? &pointers_[static_cast<size_t>(described.first_child)] : nullptr;
    array.dictionary = described.dictionary >= 0 ? &nodes_[static_cast<size_t>(described.dictionary)] : nullptr;
    array.release = [](ArrowArray*) {};
    if (described.type.info().is_variadic && device_.has_addresses()) add_variadic_sizes(field, first);
    return static_cast<size_t>(node.n_buffers);
  }

  // The sizes of variadic buffers are the lengths in the message.
  void add_variadic_sizes(int32_t field, size_t first) {
    const int64_t n_buffers = message_.nodes[static_cast<size_t>(field)].n_buffers;
    const int64_t n = n_buffers - tree_[field].type.info().fixed_buffers;
    if (n < 0) return;  // Binding refuses the number
    const int64_t* const sizes = owner_->variadic_sizes.data() + owner_->variadic_sizes.size();
    const size_t last = first + static_cast<size_t>(n_buffers) - 1;
    for (size_t i = last - static_cast<size_t>(n); i < last; ++i) {
      owner_->variadic_sizes.push_back(message_.buffers[i].length);
    }
    buffers_[last] = n > 0 ? sizes : nullptr;
  }

  // The lengths in the message are those of the buffers that exist.
  void check_sizes(const schema::Binding& bound, std::span<const int64_t> needed) const {
    size_t next = 0;
    for (int32_t field = 0; field < tree_.size(); ++field) {
      for (int64_t i = 0; i < bound.buffer_count(field); ++i) {
        const int64_t length = message_.buffers[next].length;
        const int64_t least = needed[next++];
        if (least <= length) continue;
        refuse(field, "buffer " + std::to_string(i) + " has " + bytes_text(length) + ", and the array needs " +
                          bytes_text(least));
      }
    }
  }

  const schema::Tree& tree_;
  const HandleMessage& message_;
  device::Device& device_;
  std::shared_ptr<WithSizes> owner_;
  std::vector<ArrowArray> nodes_;      // of each field of the tree
  std::vector<ArrowArray*> pointers_;  // to each node
  std::vector<const void*> buffers_;
};

}  // namespace

// The id is usually the same in both processes. A device without a UUID is found by its id alone.
device::Device& find_device(const HandleMessage& message) {
  if (message.device_type == ARROW_DEVICE_CPU) return device::Devices::instance().cpu();
  const int64_t count = device::Devices::instance().count(message.device_type);
  const bool has_uuid = std::ranges::any_of(message.device_uuid, [](uint8_t byte) { return byte != 0; });
  if (message.device_id >= 0 && message.device_id < count) {
    if (auto* const device = device_if_same(message, message.device_id)) return *device;
  }
  for (int64_t id = 0; has_uuid && id < count; ++id) {
    if (id == message.device_id) continue;
    if (auto* const device = device_if_same(message, id)) return *device;
  }
  const auto which =
      has_uuid ? "UUID " + uuid_text(message.device_uuid) : "id " + std::to_string(message.device_id) + " and no UUID";
  throw Error(ENODEV, "the array is on a " + backend::device_type_text(message.device_type) + " device with " + which +
                          ", which is none of the " + std::to_string(count) + " that this process sees");
}

void open_array(const schema::Tree& tree, const HandleMessage& message, std::shared_ptr<OpenedAllocations> opened,
                const transfer::CopyOptions& options, ArrowDeviceArray* out) {
  auto& device = opened->device;
  Opening opening(tree, message, device);
  opening.check(*opened);
  auto buffers = buffers_of(std::move(opened), message);
  if (options.always) buffers = copy_buffers(buffers, message, device, options);
  array::OwnedArray made;
  opening.publish(std::move(buffers), &made.array);
  opening.check_data(made.array, options.deadline);
  *out = std::exchange(made.array, {});
}

}  // namespace arrowdevice::link
