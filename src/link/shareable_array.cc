// SPDX-License-Identifier: Apache-2.0
#include "link/shareable_array.h"

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "array/owners.h"
#include "array/shared_array.h"
#include "base/log.h"
#include "base/scratch.h"
#include "base/text.h"
#include "inspect/sizes.h"
#include "ipc/schema_message.h"

namespace arrowdevice::link {
namespace {

// Returns the reason why other processes cannot open the array's memory, or nullopt after success.
std::optional<std::string> share(ArrowDeviceArray& array, const schema::Tree& tree, device::Device& device,
                                 const Deadline& deadline, ShareableArray& out) {
  Scratch scratch;
  const schema::Binding bound(tree, array.array, scratch.memory());
  // Finds most buffers in other memory before data is read. Buffers of unknown size are not looked for.
  BufferLocations unused;
  const auto known_sizes = inspect::buffer_sizes(bound, nullptr, false, scratch.memory());
  if (auto why = locate_buffers(bound, device, known_sizes, unused)) return why;
  const device::ForeignEvent event(device, array.sync_event);
  const auto sizes = inspect::read_buffer_sizes(bound, device, event, deadline, &array, scratch.memory());
  if (auto why = locate_buffers(bound, device, sizes, out.locations)) return why;
  for (const int64_t size : sizes) out.bytes += size;
  array::SharedArray shared(array);
  out.owner = shared.owner();
  shared.commit();
  return std::nullopt;
}

std::shared_ptr<device::Pool> pool_for_copies(device::Device& device, const transfer::CopyOptions& options) {
  if (options.pool == nullptr) return device.shareable_pool();
  if (!options.pool->is_shareable()) throw Error(EINVAL, "options.pool has no POOL_SHAREABLE");
  return options.pool;
}

}  // namespace

ShareableArray make_shareable(ArrowDeviceArray& inout, const schema::Tree& tree, device::Device& device,
                              const transfer::CopyOptions& options, ArrowDeviceArray* copy, const char* why_always) {
  if (!device.has_shareable_memory()) {
    throw Error(ENOTSUP, device.text() + " has no memory that other processes can open");
  }
  auto copying = options;
  copying.pool = pool_for_copies(device, options);
  copying.async = false;
  std::string why = why_always;
  if (!options.always) {
    ShareableArray made;
    auto refused = share(inout, tree, device, options.deadline, made);
    if (!refused) return made;
    why = std::move(*refused);
  }
  if (options.never) throw Error(ENOTSUP, why + ", and copying is ruled out");
  array::OwnedArray copied;
  transfer::copy(inout, tree, device, copying, &copied.array);
  ShareableArray made;
  if (const auto refused = share(copied.array, tree, device, options.deadline, made)) throw Error(ENOTSUP, *refused);
  made.copied_bytes = made.bytes;
  if (is_logged(LogLevel::kDebug)) {
    log(LogLevel::kDebug, "an array for another process needed a copy of " + bytes_text(made.bytes) + ": " + why);
  }
  if (copy != nullptr) *copy = std::exchange(copied.array, {});
  return made;
}

std::vector<uint8_t> write_type(const ArrowSchema& schema) {
  ArrowSchema* column = const_cast<ArrowSchema*>(&schema);
  ArrowSchema batch{};
  batch.format = "+s";
  batch.n_children = 1;
  batch.children = &column;
  batch.release = [](ArrowSchema*) {};
  return ipc::write_schema(batch);
}

schema::UniqueSchema read_type(std::span<const uint8_t> message) {
  const ipc::Message read(message);
  ArrowSchema batch = ipc::read_schema(read).schema.take();
  schema::UniqueSchema owner(batch);
  if (batch.n_children != 1) {
    throw Error(EINVAL, "the schema of the message has " + std::to_string(batch.n_children) + " columns (expected 1)");
  }
  return schema::UniqueSchema(std::exchange(*batch.children[0], ArrowSchema{}));
}

}  // namespace arrowdevice::link
