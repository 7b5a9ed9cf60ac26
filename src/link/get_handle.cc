// SPDX-License-Identifier: Apache-2.0
#include "link/get_handle.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "array/locate.h"
#include "base/closed_in_children.h"
#include "base/scratch.h"
#include "link/handle_message.h"
#include "link/release_pipes.h"
#include "link/shareable_array.h"

namespace arrowdevice::link {
namespace {

// The owner of a handle's bytes and descriptors.
struct HandleData {
  std::vector<FileDescriptor> memory;
  std::vector<int> numbers{-1};  // of all descriptors; the pipe's is the first
  std::vector<uint8_t> bytes;
  ClosedInChildren pipe;  // ends before `numbers`, which has its number

  // Keeps the descriptor of an allocation for the handle.
  arrowdevice_memory_record describe(const device::Device& device, const device::ShareableBlock& block) {
    auto record = device.memory_export(block);
    if (record.descriptor < 0) return record;
    FileDescriptor descriptor(record.descriptor);
    record.descriptor = static_cast<int32_t>(numbers.size());
    numbers.push_back(descriptor.get());
    memory.push_back(std::move(descriptor));
    return record;
  }

  static void release(arrowdevice_ipc_handle* handle) {
    delete static_cast<HandleData*>(handle->private_data);
    handle->release = nullptr;
  }
};

void publish(std::unique_ptr<HandleData> data, arrowdevice_ipc_handle* out) noexcept {
  *out = {};
  out->bytes = data->bytes.data();
  out->size = std::ssize(data->bytes);
  out->descriptors = data->numbers.data();
  out->n_descriptors = static_cast<int32_t>(data->numbers.size());
  out->release = HandleData::release;
  out->private_data = data.release();
}

}  // namespace

void get_handle(ArrowDeviceArray& inout, const ArrowSchema& schema, const transfer::CopyOptions& options,
                arrowdevice_ipc_handle* out) {
  array::check_alive(&inout);
  Scratch scratch;
  const schema::Tree tree(schema, scratch.memory());
  auto type = write_type(schema);
  auto& device = array::device_of(inout, options.source);
  const device::DeviceUse use(device);
  transfer::check_queue_and_pool(options, device.type(), device);
  auto made = make_shareable(inout, tree, device, options);
  auto data = std::make_unique<HandleData>();
  HandleMessage message(device);
  for (const auto& block : made.locations.allocations) message.allocations.push_back(data->describe(device, block));
  message.nodes = std::move(made.locations.nodes);
  message.buffers = std::move(made.locations.buffers);
  message.schema = std::move(type);
  data->bytes = write_handle(message);
  ReleasePipes::instance().open(std::move(made.owner), data->pipe, data->numbers.front());
  publish(std::move(data), out);
  out->copied_bytes = made.copied_bytes;
}

}  // namespace arrowdevice::link
