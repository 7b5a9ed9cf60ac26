// SPDX-License-Identifier: Apache-2.0
#include "link/client_batches.h"

#include <cerrno>
#include <utility>

#include "array/locate.h"
#include "backend/device_types.h"
#include "base/error.h"
#include "device/devices.h"
#include "link/handle_message.h"
#include "link/shareable_array.h"
#include "stream/to_device.h"

namespace arrowdevice::link {

void ClientBatches::check_copying(ArrowDeviceType type) const {
  if (!copying_.never) return;
  throw Error(ENOTSUP, "the client cannot open memory of " + backend::device_type_text(type) +
                           " devices of the server, and copying is ruled out");
}

// Copies that only this client sees are not copied again.
void ClientBatches::copy_to_cpu(stream::Upstream<ArrowDeviceArrayStream>& stream) {
  check_copying(stream->device_type);
  auto& cpu = device::Devices::instance().cpu();
  stream::MoveOptions options;
  options.copy.pool = is_isolated_ ? own_pool(cpu) : cpu.shareable_pool();
  ArrowDeviceArrayStream copied{};
  stream::to_device(*stream, cpu, options, &copied);
  stream.take(copied);
  copying_.pool = options.copy.pool;
  is_copied_ = true;
}

ClientBatches::Batch ClientBatches::make(ArrowDeviceArray& array) {
  auto& device = array::device_of(array, nullptr);
  const device::DeviceUse use(device);
  auto copying = copying_;
  if (is_isolated_ && !is_copied_) {
    copying.always = true;
    copying.pool = own_pool(device);
  }
  auto made = make_shareable(array, tree_, device, copying, nullptr,
                             "the client needs copies of its own, because it is of another user or the server "
                             "isolates its clients");
  Batch batch;
  batch.bytes = made.bytes;
  batch.copied_bytes = is_copied_ ? made.bytes : made.copied_bytes;
  batch.forgotten = sent_allocations_.remove_freed(device);
  HandleMessage message(device);
  std::vector<int64_t> ids;
  for (const auto& block : made.locations.allocations) {
    ids.push_back(sent_allocations_.id_of(device, block, message, batch.descriptors));
  }
  for (auto& buffer : made.locations.buffers) {
    if (buffer.allocation != MessageBuffer::kNone) buffer.allocation = ids[static_cast<size_t>(buffer.allocation)];
  }
  message.nodes = std::move(made.locations.nodes);
  message.buffers = std::move(made.locations.buffers);
  batch.message = write_handle(message);
  batch.owner = std::move(made.owner);
  return batch;
}

std::shared_ptr<device::Pool> ClientBatches::own_pool(device::Device& device) {
  auto& pool = pools_[&device];
  if (pool == nullptr) {
    arrowdevice_pool_options options{};
    options.struct_size = sizeof options;
    options.flags = ARROWDEVICE_POOL_SHAREABLE;
    options.max_bytes = max_bytes_;
    pool = std::make_shared<device::Pool>(device, options, device::Pool::kApplicationOwned);
  }
  return pool;
}

}  // namespace arrowdevice::link
