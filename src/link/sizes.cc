// SPDX-License-Identifier: Apache-2.0
#include "link/sizes.h"

#include "device/queue.h"
#include "inspect/sizes.h"
#include "transfer/source_reader.h"

namespace arrowdevice::link {

std::pmr::vector<int64_t> read_sizes(const schema::Binding& array, device::Device& device,
                                     const device::ForeignEvent& event, const Deadline& deadline,
                                     ArrowDeviceArray* moved, std::pmr::memory_resource* memory) {
  event.wait(deadline.left());
  const bool sizes_on_host = array.has_variadic() && transfer::variadic_sizes_on_host(array, device);
  if (device.is_on_host()) {
    transfer::SourceReader contents;
    return inspect::buffer_sizes(array, &contents, sizes_on_host, memory);
  }
  const device::QueueLease lease(device);
  transfer::SourceReader contents(device, *lease.get(), event, deadline, moved);
  return inspect::buffer_sizes(array, &contents, sizes_on_host, memory);
}

}  // namespace arrowdevice::link
