// SPDX-License-Identifier: Apache-2.0
#include "link/open_handle.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/clone_structs.h"
#include "backend/device_types.h"
#include "base/file_descriptor.h"
#include "base/scratch.h"
#include "base/text.h"
#include "device/devices.h"
#include "inspect/sizes.h"
#include "ipc/schema_message.h"
#include "link/handle_message.h"
#include "link/opened_memory.h"
#include "link/sizes.h"

namespace arrowdevice::link {
namespace {

using schema::BufferShape;

// The other process uses its memory again when the pipe is closed, so this process closes the memory first.
struct OpenedOwner final : array::BufferOwner {
  explicit OpenedOwner(device::Device& its_device) : device(its_device) {}
  ~OpenedOwner() override {
    for (void* const sub : sub_buffers) device.sub_buffer_destroy(sub);
  }

  device::Device& device;
  FileDescriptor pipe;
  std::vector<std::shared_ptr<OpenedMemory>> allocations;
  std::vector<void*> sub_buffers;
  std::vector<int64_t> variadic_sizes;
};

std::string uuid_text(const uint8_t (&uuid)[16]) {
  std::string text;
  for (const uint8_t byte : uuid) text += format("%02x", byte);
  return text;
}

device::Device& find_device(const HandleMessage& message) {
  auto& devices = device::Devices::instance();
  if (message.device_type == ARROW_DEVICE_CPU) return devices.cpu();
  const int64_t count = devices.count(message.device_type);
  for (int64_t id = 0; id < count; ++id) {
    auto& device = devices.get(message.device_type, id);
    if (std::memcmp(device.info().uuid, message.device_uuid, sizeof message.device_uuid) == 0) return device;
  }
  throw Error(ENODEV, "the array is on a " + backend::device_type_text(message.device_type) + " device with UUID " +
                          uuid_text(message.device_uuid) + ", which is none of the " + std::to_string(count) +
                          " that this process sees");
}

int descriptor_at(std::span<const int> descriptors, int64_t position) {
  if (position >= 0 && position < std::ssize(descriptors)) return descriptors[static_cast<size_t>(position)];
  throw Error(EINVAL, "the handle refers to descriptor " + std::to_string(position) + ", and there are " +
                          std::to_string(descriptors.size()));
}

FileDescriptor duplicate_pipe(int descriptor) {
  if (descriptor == -1)
    throw Error(EINVAL, "descriptor 0 of the handle is -1, because a child has no handle of its parent");
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0 || !S_ISFIFO(facts.st_mode)) {
    throw Error(EINVAL, "descriptor 0 of the handle (" + std::to_string(descriptor) + ") is no pipe");
  }
  FileDescriptor duplicate(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!duplicate) throw Error(errno, std::string("no descriptor for a handle: ") + std::strerror(errno));
  return duplicate;
}

// The schema of the array, which is the only column of the message's schema.
schema::UniqueSchema read_type(const HandleMessage& message) {
  const ipc::Message schema(message.schema);
  ArrowSchema batch = ipc::read_schema(schema).schema.take();
  schema::UniqueSchema owner(batch);
  if (batch.n_children != 1) {
    throw Error(EINVAL, "the schema of the handle has " + std::to_string(batch.n_children) + " columns (expected 1)");
  }
  return schema::UniqueSchema(std::exchange(*batch.children[0], ArrowSchema{}));
}

// Makes the structs in its own memory, so that they can be checked as a whole before they are published.
class Opening {
 public:
  Opening(const schema::Tree& tree, const HandleMessage& message, OpenedOwner& owner)
      : tree_(tree),
        message_(message),
        device_(owner.device),
        owner_(owner),
        nodes_(static_cast<size_t>(tree.size())),
        pointers_(nodes_.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) pointers_[i] = &nodes_[i];
    buffers_.reserve(message.buffers.size());
    owner_.sub_buffers.reserve(message.buffers.size());
    owner_.variadic_sizes.reserve(message.buffers.size());
  }

  const ArrowArray& run() {
    if (message_.nodes.size() != nodes_.size()) {
      refuse(0, "the handle has " + std::to_string(message_.nodes.size()) + " nodes (expected " +
                    std::to_string(nodes_.size()) + ")");
    }
    for (int32_t field = 0; field < tree_.size(); ++field) add_field(field);
    if (buffers_.size() != message_.buffers.size()) {
      refuse(0, "the handle has " + std::to_string(message_.buffers.size()) + " buffers (expected " +
                    std::to_string(buffers_.size()) + ")");
    }
    check_sizes();
    return nodes_.front();
  }

 private:
  [[noreturn, gnu::cold]] void refuse(int32_t field, const std::string& why) const {
    throw Error(EINVAL, tree_.path(field) + ": " + why);
  }

  void add_field(int32_t field) {
    const auto& described = tree_[field];
    const auto& node = message_.nodes[static_cast<size_t>(field)];
    const auto left = static_cast<int64_t>(message_.buffers.size() - buffers_.size());
    if (node.n_buffers < 0 || node.n_buffers > left) {
      refuse(field, "n_buffers is " + std::to_string(node.n_buffers) + ", and " + std::to_string(left) +
                        " buffers of the handle are left");
    }
    ArrowArray& array = nodes_[static_cast<size_t>(field)];
    array.length = node.length;
    array.null_count = node.null_count;
    array.offset = node.offset;
    array.n_buffers = node.n_buffers;
    array.buffers = buffers_.data() + buffers_.size();
    array.n_children = described.n_children;
    array.children = described.n_children > 0 ? &pointers_[static_cast<size_t>(described.first_child)] : nullptr;
    array.dictionary = described.dictionary >= 0 ? &nodes_[static_cast<size_t>(described.dictionary)] : nullptr;
    array.release = [](ArrowArray*) {};
    for (int64_t i = 0; i < node.n_buffers; ++i) buffers_.push_back(place(field, message_.buffers[buffers_.size()]));
    if (described.type.info().is_variadic && device_.has_addresses()) add_variadic_sizes(field, node.n_buffers);
  }

  // Returns the address or handle of a buffer.
  const void* place(int32_t field, const MessageBuffer& buffer) {
    const auto refuse_buffer = [&, this](const std::string& why) {
      refuse(field, "the buffer with offset " + std::to_string(buffer.offset) + " and length " +
                        std::to_string(buffer.length) + " " + why);
    };
    if (buffer.length < 0 || buffer.offset < 0) refuse_buffer("is not possible");
    if (buffer.allocation == MessageBuffer::kNone) return nullptr;
    if (buffer.allocation < 0 || buffer.allocation >= std::ssize(owner_.allocations)) {
      refuse_buffer("is in allocation " + std::to_string(buffer.allocation) + " of " +
                    std::to_string(owner_.allocations.size()));
    }
    const auto& memory = *owner_.allocations[static_cast<size_t>(buffer.allocation)];
    if (buffer.length > memory.size() || buffer.offset > memory.size() - buffer.length) {
      refuse_buffer("is outside of its allocation, which has " + bytes_text(memory.size()));
    }
    owner_.sub_buffers.push_back(device_.sub_buffer_create(memory.buffer(), buffer.offset, buffer.length));
    return owner_.sub_buffers.back();
  }

  // The sizes of variadic buffers are in host memory. They are the lengths in the message.
  void add_variadic_sizes(int32_t field, int64_t n_buffers) {
    const int64_t n = n_buffers - tree_[field].type.info().fixed_buffers;
    if (n < 0) return;  // Binding refuses the number
    const int64_t* const sizes = owner_.variadic_sizes.data() + owner_.variadic_sizes.size();
    const size_t last = buffers_.size() - 1;
    for (size_t i = last - static_cast<size_t>(n); i < last; ++i) {
      owner_.variadic_sizes.push_back(message_.buffers[i].length);
    }
    buffers_[last] = n > 0 ? sizes : nullptr;
  }

  // The lengths in the message are those of the buffers that exist. The structs, and then the data, must need no more.
  void check_sizes() {
    Scratch scratch;
    const schema::Binding bound(tree_, nodes_.front(), scratch.memory());
    check(bound, inspect::buffer_sizes(bound, nullptr, device_.has_addresses(), scratch.memory()));
    const device::ForeignEvent ready(device_, nullptr);
    const Deadline deadline(ARROWDEVICE_NO_TIMEOUT);
    check(bound, read_sizes(bound, device_, ready, deadline, nullptr, scratch.memory()));
  }

  void check(const schema::Binding& bound, std::span<const int64_t> needed) const {
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
  OpenedOwner& owner_;
  std::vector<ArrowArray> nodes_;      // of each field of the tree
  std::vector<ArrowArray*> pointers_;  // to each node
  std::vector<const void*> buffers_;
};

}  // namespace

void open_handle(std::span<const uint8_t> bytes, std::span<const int> descriptors, ArrowDeviceArray* out,
                 ArrowSchema* out_schema) {
  auto message = read_handle(bytes);
  auto type = read_type(message);
  const schema::Tree tree(type.get());
  auto& device = find_device(message);
  auto owner = std::make_shared<OpenedOwner>(device);
  owner->pipe = duplicate_pipe(descriptor_at(descriptors, 0));
  for (auto& record : message.allocations) {
    if (record.kind == ARROWDEVICE_MEMORY_DESCRIPTOR) record.descriptor = descriptor_at(descriptors, record.descriptor);
    owner->allocations.push_back(open_memory(device, record));
  }
  Opening opening(tree, message, *owner);
  const ArrowArray& array = opening.run();
  *out = {};
  array::clone_structs(array).publish(std::move(owner), &out->array);
  out->device_type = device.type();
  out->device_id = device.published_id();
  *out_schema = type.take();
}

}  // namespace arrowdevice::link
