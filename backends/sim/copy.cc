// SPDX-License-Identifier: Apache-2.0
#include "sim/copy.h"

#include <cerrno>

#include "base/error.h"

namespace arrowdevice::sim {
namespace {

// An end of a region. `device` and `pages` are NULL for host memory.
struct End {
  std::shared_ptr<Device> device;
  std::shared_ptr<Pages> pages;
  std::byte* bytes;
};

End check_end(const Devices& devices, const Device& queue_device, void* device_handle, const void* buffer,
              int64_t offset, int64_t size) {
  if (device_handle == nullptr) {
    if (offset < 0) throw Error(EINVAL, format("%lld as a position in host memory", static_cast<long long>(offset)));
    devices.check_host(buffer);
    return {.device = nullptr, .pages = nullptr, .bytes = static_cast<std::byte*>(const_cast<void*>(buffer)) + offset};
  }
  auto device = devices.get(device_handle);
  if (device.get() != &queue_device && devices.peers() == Peers::kNone) {
    throw Error(ENOTSUP, format("%s has no direct path to %s", queue_device.name().c_str(), device->name().c_str()));
  }
  auto range = devices.range(*device, buffer, offset, size);
  return {.device = std::move(device), .pages = std::move(range.pages), .bytes = range.bytes};
}

int64_t& bytes_counter(Counters& counters, const Device& queue_device, const End& to, const End& from) {
  const auto own = [&](const End& end) { return end.device.get() == &queue_device; };
  if (own(to) && own(from)) return counters.bytes_within;
  if (own(to) && !from.device) return counters.bytes_in;
  if (own(from) && !to.device) return counters.bytes_out;
  return counters.bytes_peer;
}

}  // namespace

CheckedCopy check_copy(const Devices& devices, const Device& queue_device,
                       std::span<const arrowdevice_backend_region> regions) {
  CheckedCopy copy;
  copy.work.transfers.reserve(regions.size());
  const auto check = [&](const arrowdevice_backend_region& region) {
    const int64_t size = region.size;
    if (size <= 0) throw Error(EINVAL, format("a region of %lld bytes", static_cast<long long>(size)));
    End to = check_end(devices, queue_device, region.dst_device, region.dst, region.dst_offset, size);
    End from = check_end(devices, queue_device, region.src_device, region.src, region.src_offset, size);
    if (to.pages == from.pages && to.bytes < from.bytes + size && from.bytes < to.bytes + size) {
      throw Error(EINVAL, format("source and target of %lld bytes overlap", static_cast<long long>(size)));
    }
    if (to.device || from.device) bytes_counter(copy.counted, queue_device, to, from) += size;
    copy.work.transfers.push_back({.to_pages = std::move(to.pages),
                                   .from_pages = std::move(from.pages),
                                   .to = to.bytes,
                                   .from = from.bytes,
                                   .size = size});
  };
  for (const arrowdevice_backend_region& region : regions) {
    try {
      check(region);
    } catch (const Error& error) {
      throw Error(error.code(), format("region %td: %s", &region - regions.data(), error.what()));
    }
  }
  copy.counted.copies = 1;
  copy.counted.regions = static_cast<int64_t>(regions.size());
  return copy;
}

}  // namespace arrowdevice::sim
