// SPDX-License-Identifier: Apache-2.0
#include "link/get_handle.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/locate.h"
#include "array/owners.h"
#include "array/shared_array.h"
#include "base/log.h"
#include "base/scratch.h"
#include "base/text.h"
#include "inspect/sizes.h"
#include "ipc/schema_message.h"
#include "link/buffer_locations.h"
#include "link/handle_message.h"
#include "link/release_pipes.h"

namespace arrowdevice::link {
namespace {

// The owner of a handle's bytes and descriptors.
struct HandleData {
  std::vector<FileDescriptor> memory;
  std::vector<int> numbers{-1};  // of all descriptors; the pipe's is the first
  std::vector<uint8_t> bytes;
  ReleasePipes::WriteEnd pipe;  // ends before `numbers`, which has its number

  static void release(arrowdevice_ipc_handle* handle) {
    delete static_cast<HandleData*>(handle->private_data);
    handle->release = nullptr;
  }
};

// Makes handles of an array that is on a device.
class HandleMaker {
 public:
  HandleMaker(const schema::Tree& tree, const ArrowSchema& schema, device::Device& device,
              const transfer::CopyOptions& options)
      : tree_(tree), type_(write_type(schema)), device_(device), options_(options) {}

  // Returns the reason why other processes cannot open the array's memory, or nullopt after success.
  std::optional<std::string> share(ArrowDeviceArray& array, int64_t* bytes, arrowdevice_ipc_handle* out) {
    Scratch scratch;
    const schema::Binding bound(tree_, array.array, scratch.memory());
    // Finds most buffers in other memory before data is read. Buffers of unknown size are not looked for.
    BufferLocations unused;
    const auto known_sizes = inspect::buffer_sizes(bound, nullptr, false, scratch.memory());
    if (auto why = locate_buffers(bound, device_, known_sizes, unused)) return why;
    const device::ForeignEvent event(device_, array.sync_event);
    const auto sizes = inspect::read_buffer_sizes(bound, device_, event, options_.deadline, &array, scratch.memory());
    BufferLocations locations;
    if (auto why = locate_buffers(bound, device_, sizes, locations)) return why;
    *bytes = 0;
    for (const int64_t size : sizes) *bytes += size;
    fill(array, std::move(locations), out);
    return std::nullopt;
  }

 private:
  void fill(ArrowDeviceArray& array, BufferLocations locations, arrowdevice_ipc_handle* out) {
    auto data = std::make_unique<HandleData>();
    HandleMessage message;
    message.device_type = device_.type();
    message.device_id = device_.id();
    std::memcpy(message.device_uuid, device_.info().uuid, sizeof message.device_uuid);
    for (const auto& block : locations.allocations) message.allocations.push_back(describe(block, *data));
    message.nodes = std::move(locations.nodes);
    message.buffers = std::move(locations.buffers);
    message.schema = type_;
    data->bytes = write_handle(message);

    array::SharedArray shared(array);
    data->pipe = ReleasePipes::instance().open(shared.owner(), data->numbers.front());
    shared.commit();
    publish(std::move(data), out);
  }

  // Keeps the descriptor of an allocation for the handle.
  arrowdevice_memory_record describe(const device::ShareableBlock& block, HandleData& data) const {
    auto record = device_.memory_export(block);
    if (record.descriptor < 0) return record;
    FileDescriptor descriptor(record.descriptor);
    record.descriptor = static_cast<int32_t>(data.numbers.size());
    data.numbers.push_back(descriptor.get());
    data.memory.push_back(std::move(descriptor));
    return record;
  }

  // A schema message describes the columns of a batch. The array is its only column, so that it may have any type, and
  // keeps its name and its flags.
  static std::vector<uint8_t> write_type(const ArrowSchema& schema) {
    ArrowSchema* column = const_cast<ArrowSchema*>(&schema);
    ArrowSchema batch{};
    batch.format = "+s";
    batch.n_children = 1;
    batch.children = &column;
    batch.release = [](ArrowSchema*) {};
    return ipc::write_schema(batch);
  }

  static void publish(std::unique_ptr<HandleData> data, arrowdevice_ipc_handle* out) noexcept {
    *out = {};
    out->bytes = data->bytes.data();
    out->size = std::ssize(data->bytes);
    out->descriptors = data->numbers.data();
    out->n_descriptors = static_cast<int32_t>(data->numbers.size());
    out->release = HandleData::release;
    out->private_data = data.release();
  }

  const schema::Tree& tree_;
  const std::vector<uint8_t> type_;
  device::Device& device_;
  const transfer::CopyOptions& options_;
};

std::shared_ptr<device::Pool> pool_for_copies(device::Device& device, const transfer::CopyOptions& options) {
  if (options.pool == nullptr) return device.shareable_pool();
  if (!options.pool->is_shareable()) throw Error(EINVAL, "options.pool has no POOL_SHAREABLE");
  return options.pool;
}

}  // namespace

void get_handle(ArrowDeviceArray& inout, const ArrowSchema& schema, const transfer::CopyOptions& options,
                arrowdevice_ipc_handle* out) {
  array::check_alive(&inout);
  Scratch scratch;
  const schema::Tree tree(schema, scratch.memory());
  auto& device = array::device_of(inout, options.source);
  const device::DeviceUse use(device);
  transfer::check_queue_and_pool(options, device.type(), device);
  if (!device.has_shareable_memory()) {
    throw Error(ENOTSUP, "the backend of " + device.text() + " has no memory that other processes can open");
  }
  auto copying = options;
  copying.pool = pool_for_copies(device, options);
  HandleMaker maker(tree, schema, device, options);
  int64_t bytes = 0;
  std::string why = "COPY_ALWAYS is set";
  if (!options.always) {
    auto refused = maker.share(inout, &bytes, out);
    if (!refused) return;
    why = std::move(*refused);
  }
  if (options.never) throw Error(ENOTSUP, why + ", and copying is ruled out");
  array::OwnedArray copied;
  copying.async = false;
  transfer::copy(inout, tree, device, copying, &copied.array);
  if (const auto refused = maker.share(copied.array, &bytes, out)) throw Error(ENOTSUP, *refused);
  out->copied_bytes = bytes;
  if (is_logged(LogLevel::kDebug)) log(LogLevel::kDebug, "a handle needed a copy of " + bytes_text(bytes) + ": " + why);
}

}  // namespace arrowdevice::link
