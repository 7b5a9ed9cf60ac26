// SPDX-License-Identifier: Apache-2.0
#include "level_zero/copy.h"

#include <cerrno>

#include "level_zero/lookup.h"

namespace arrowdevice::level_zero {
namespace {

// Checks one end of the regions. Consecutive regions often lie in one allocation.
class Ends {
 public:
  explicit Ends(const Device& queue_device) : context_(queue_device.context()) {}

  void check(void* device_handle, const void* address, size_t size) {
    if (device_handle == nullptr) return;  // host memory
    auto& device = *static_cast<Device*>(device_handle);
    if (&device.context() != &context_) {
      throw Error(EINVAL, format("the memory at %p is of another context than the queue", address));
    }
    if (last_ && last_->has(address, size)) return;
    const auto found = device.physical().use([&] { return find_allocation(context_.native(), address); });
    if (!found) {
      if (device.properties().reaches_system_memory) return;
      throw Error(EINVAL,
                  format("the memory at %p is not known to the context of %s: to use memory of another context, wrap "
                         "that context",
                         address, device.properties().name.c_str()));
    }
    if (!found->has(address, size)) {
      throw Error(EINVAL, format("%zu bytes at %p reach out of an allocation of %zu bytes at %p", size, address,
                                 found->size, found->base));
    }
    last_ = *found;
  }

 private:
  const Context& context_;
  std::optional<Allocation> last_;
};

}  // namespace

std::vector<Piece> check_pieces(const Device& device, std::span<const arrowdevice_backend_region> regions) {
  std::vector<Piece> pieces;
  pieces.reserve(regions.size());
  Ends targets(device);
  Ends sources(device);
  for (const auto& region : regions) {
    const Piece piece{.to = static_cast<char*>(region.dst) + region.dst_offset,
                      .from = static_cast<const char*>(region.src) + region.src_offset,
                      .size = static_cast<size_t>(region.size)};
    try {
      targets.check(region.dst_device, piece.to, piece.size);
      sources.check(region.src_device, piece.from, piece.size);
    } catch (const Error& error) {
      // A message of the driver begins with the name of its function.
      if (error.code() != EINVAL || error.native_code() != 0) throw;
      const auto number = static_cast<long long>(pieces.size());
      throw Error(error.code(), format("region %lld: %s", number, error.what()), error.backend(), error.native_code());
    }
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace arrowdevice::level_zero
