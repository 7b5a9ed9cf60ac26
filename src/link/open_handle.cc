// SPDX-License-Identifier: Apache-2.0
#include "link/open_handle.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/device_types.h"
#include "base/file_descriptor.h"
#include "link/handle_message.h"
#include "link/opened_array.h"
#include "link/shareable_array.h"

namespace arrowdevice::link {
namespace {

device::Device& device_of(const HandleMessage& message, const transfer::CopyOptions& options) {
  if (options.source == nullptr) return find_device(message);
  if (options.source->type() == message.device_type) return *options.source;
  throw Error(EINVAL, "options.source_device is " + options.source->text() + ", and the array is on a " +
                          backend::device_type_text(message.device_type) + " device");
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
  auto duplicate = FileDescriptor::duplicate_of(descriptor);
  if (!duplicate) throw Error(errno, std::string("no descriptor for a handle: ") + std::strerror(errno));
  return duplicate;
}

// Throws EINVAL if the descriptors are not those of the message.
std::shared_ptr<OpenedAllocations> open_allocations(device::Device& device, const HandleMessage& message,
                                                    std::span<const int> descriptors) {
  // The owner process may reuse the memory when the pipe is closed.
  auto pipe = std::make_shared<FileDescriptor>(duplicate_pipe(descriptor_at(descriptors, 0)));
  auto opened = std::make_shared<OpenedAllocations>(device, std::move(pipe));
  if (message.allocations.size() >= kMostDescriptors) {
    throw Error(EINVAL, "the handle has " + std::to_string(message.allocations.size()) + " allocations (at most " +
                            std::to_string(kMostDescriptors - 1) + ")");
  }
  for (auto record : message.allocations) {
    if (record.kind == ARROWDEVICE_MEMORY_DESCRIPTOR) record.descriptor = descriptor_at(descriptors, record.descriptor);
    opened->allocations.push_back(open_memory(device, record));
  }
  return opened;
}

}  // namespace

void open_handle(std::span<const uint8_t> bytes, std::span<const int> descriptors, const transfer::CopyOptions& options,
                 ArrowDeviceArray* out, ArrowSchema* out_schema) {
  if (options.queue != nullptr) throw Error(EINVAL, "options.queue is set, and no queue is used");
  const auto message = read_handle(bytes);
  auto type = read_type(message.schema);
  const schema::Tree tree(type.get());
  auto& device = device_of(message, options);
  transfer::check_queue_and_pool(options, device.type(), device);
  open_array(tree, message, open_allocations(device, message, descriptors), options, out);
  *out_schema = type.take();
}

}  // namespace arrowdevice::link
