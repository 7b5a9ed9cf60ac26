// SPDX-License-Identifier: Apache-2.0
#include "link/opened_buffers.h"

#include <utility>

#include "array/clone_structs.h"
#include "array/owners.h"
#include "schema/build.h"

namespace arrowdevice::link {
namespace {

// A batch with a column of bytes for each buffer, so that the copy engine copies them without reading them.
class Bytes {
 public:
  Bytes(const Buffers& buffers, const HandleMessage& message) : columns_(buffers.pointers.size()) {
    std::vector<schema::UniqueSchema> types;
    for (size_t i = 0; i < columns_.size(); ++i) {
      auto& column = columns_[i];
      column.buffers[1] = buffers.pointers[i];
      column.array.length = buffers.pointers[i] == nullptr ? 0 : message.buffers[i].length;
      column.array.n_buffers = 2;
      column.array.buffers = column.buffers;
      column.array.release = [](ArrowArray*) {};
      pointers_.push_back(&column.array);
      types.push_back(schema::make_schema({.format = "C", .name = {}, .metadata = {}}, 0, {}, {}));
    }
    type_ = schema::make_schema({.format = "+s", .name = {}, .metadata = {}}, 0, std::move(types), {});
    root_.n_buffers = 1;
    root_.buffers = &no_validity_;
    root_.n_children = std::ssize(pointers_);
    root_.children = pointers_.data();
    root_.release = [](ArrowArray*) {};
  }

  const ArrowSchema& type() const noexcept { return type_.get(); }
  const ArrowArray& array() const noexcept { return root_; }

 private:
  struct Column {
    ArrowArray array{};
    const void* buffers[2] = {nullptr, nullptr};
  };

  std::vector<Column> columns_;
  std::vector<ArrowArray*> pointers_;
  const void* no_validity_ = nullptr;
  schema::UniqueSchema type_;
  ArrowArray root_{};
};

}  // namespace

OpenedAllocations::~OpenedAllocations() {
  for (void* const sub : sub_buffers) device.sub_buffer_destroy(sub);
}

Buffers buffers_of(std::shared_ptr<OpenedAllocations> opened, const HandleMessage& message) {
  Buffers buffers;
  opened->sub_buffers.reserve(message.buffers.size());
  for (const auto& buffer : message.buffers) {
    if (buffer.allocation == MessageBuffer::kNone) {
      buffers.pointers.push_back(nullptr);
      continue;
    }
    const auto& memory = *opened->allocations[static_cast<size_t>(buffer.allocation)];
    opened->sub_buffers.push_back(opened->device.sub_buffer_create(memory.buffer(), buffer.offset, buffer.length));
    buffers.pointers.push_back(opened->sub_buffers.back());
  }
  buffers.owner = std::move(opened);
  return buffers;
}

Buffers copy_buffers(const Buffers& buffers, const HandleMessage& message, device::Device& device,
                     const transfer::CopyOptions& options) {
  const Bytes bytes(buffers, message);
  array::OwnedArray opened, copied;
  array::clone_structs(bytes.array()).publish(buffers.owner, &opened.array.array);
  opened.array.device_type = device.type();
  opened.array.device_id = device.published_id();
  auto copying = options;
  copying.source = &device;
  copying.async = false;
  copying.whole = true;  // the columns have different lengths
  if (copying.pool == nullptr) copying.pool = device.private_pool();
  transfer::copy(opened.array, schema::Tree(bytes.type()), device, copying, &copied.array);
  Buffers result;
  for (int64_t i = 0; i < copied.array.array.n_children; ++i) {
    result.pointers.push_back(copied.array.array.children[i]->buffers[1]);
  }
  result.owner = array::owner_of(copied.array.array);
  return result;
}

}  // namespace arrowdevice::link
