// SPDX-License-Identifier: Apache-2.0
#include "link/get_handle.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/clone_structs.h"
#include "array/locate.h"
#include "base/log.h"
#include "base/scratch.h"
#include "base/text.h"
#include "ipc/schema_message.h"
#include "link/buffer_places.h"
#include "link/handle_message.h"
#include "link/release_pipes.h"
#include "link/sizes.h"

namespace arrowdevice::link {
namespace {

// The owner of a handle's bytes and descriptors.
struct HandleData {
  ReleasePipes::WriteEnd pipe;
  std::vector<FileDescriptor> memory;
  std::vector<int> numbers{-1};  // of all descriptors; the pipe's is the first
  std::vector<uint8_t> bytes;

  static void release(arrowdevice_ipc_handle* handle) {
    delete static_cast<HandleData*>(handle->private_data);
    handle->release = nullptr;
  }
};

// Makes handles of an array that is on a device.
class Handing {
 public:
  Handing(const schema::Tree& tree, const ArrowSchema& schema, device::Device& device,
          const transfer::CopyOptions& options)
      : tree_(tree), schema_(schema), device_(device), options_(options) {}

  // Returns the reason why other processes cannot open the array's memory, or nullopt after success.
  std::optional<std::string> share(ArrowDeviceArray& array, int64_t* bytes, arrowdevice_ipc_handle* out) {
    Scratch scratch;
    const schema::Binding bound(tree_, array.array, scratch.memory());
    const device::ForeignEvent event(device_, array.sync_event);
    const auto sizes = read_sizes(bound, device_, event, options_.deadline, &array, scratch.memory());
    BufferPlaces places;
    if (auto why = find_places(bound, device_, sizes, places)) return why;
    *bytes = 0;
    for (const int64_t size : sizes) *bytes += size;
    fill(array, std::move(places), out);
    return std::nullopt;
  }

 private:
  void fill(ArrowDeviceArray& array, BufferPlaces places, arrowdevice_ipc_handle* out) {
    auto data = std::make_unique<HandleData>();
    HandleMessage message;
    message.device_type = device_.type();
    std::memcpy(message.device_uuid, device_.info().uuid, sizeof message.device_uuid);
    for (const auto& block : places.allocations) message.allocations.push_back(describe(block, *data));
    message.nodes = std::move(places.nodes);
    message.buffers = std::move(places.buffers);
    message.schema = write_type();
    data->bytes = write_handle(message);

    array::SharedArray shared(array);
    data->pipe = ReleasePipes::instance().open(shared.owner());
    data->pipe.show(data->numbers.front());
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
  std::vector<uint8_t> write_type() const {
    ArrowSchema* column = const_cast<ArrowSchema*>(&schema_);
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
  const ArrowSchema& schema_;
  device::Device& device_;
  const transfer::CopyOptions& options_;
};

std::shared_ptr<device::Pool> pool_for_copies(device::Device& device, const transfer::CopyOptions& options) {
  if (options.pool == nullptr) return device.shareable_pool();
  if (!options.pool->is_shareable()) throw Error(EINVAL, "options.pool has no POOL_SHAREABLE");
  return options.pool;
}

// An array that is released at the end of its block.
struct ScopedArray {
  ArrowDeviceArray array{};
  ~ScopedArray() {
    if (array.array.release != nullptr) array.array.release(&array.array);
  }
};

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
  Handing handing(tree, schema, device, options);
  int64_t bytes = 0;
  std::string why = "COPY_ALWAYS is set";
  if (!options.always) {
    auto refused = handing.share(inout, &bytes, out);
    if (!refused) return;
    why = std::move(*refused);
  }
  if (options.never) throw Error(ENOTSUP, why + ", and copying is ruled out");
  ScopedArray copied;
  copying.async = false;
  transfer::copy(inout, tree, device, copying, &copied.array);
  if (const auto refused = handing.share(copied.array, &bytes, out)) throw Error(E2BIG, *refused);
  out->copied_bytes = bytes;
  if (is_logged(LogLevel::kDebug)) log(LogLevel::kDebug, "a handle needed a copy of " + bytes_text(bytes) + ": " + why);
}

}  // namespace arrowdevice::link
