// SPDX-License-Identifier: Apache-2.0
#include "link/buffer_locations.h"

#include <unordered_map>

#include "base/text.h"

namespace arrowdevice::link {
namespace {

using schema::BufferShape;

class Finding {
 public:
  Finding(const schema::Binding& array, const device::Device& device, BufferLocations& out)
      : array_(array), device_(device), out_(out) {}

  std::optional<std::string> run(std::span<const int64_t> sizes) {
    auto size = sizes.begin();
    for (int32_t field = 0; field < array_.tree().size(); ++field) {
      const auto& array = array_[field];
      const auto buffers = array_.buffers(field);
      out_.nodes.push_back({array.length, array_.null_count(field), array.offset, std::ssize(buffers)});
      auto buffer = buffers.begin();
      for (const auto shape : array_.tree()[field].type.info().buffers) {
        const int64_t repeat = shape == BufferShape::kVariadic ? array_.n_variadic(field) : 1;
        for (int64_t i = 0; i < repeat; ++i) {
          if (auto why = add(field, shape, *buffer++, *size++)) return why;
        }
      }
    }
    return std::nullopt;
  }

 private:
  // Returns true for a buffer that the receiver makes itself. The sizes of variadic buffers are in host memory, and the
  // message has them.
  bool is_made_by_receiver(BufferShape shape) const noexcept {
    return shape == BufferShape::kVariadicSizes && device_.has_addresses();
  }

  std::optional<std::string> add(int32_t field, BufferShape shape, const void* buffer, int64_t size) {
    MessageBuffer location;
    location.length = size;
    if (buffer != nullptr && size > 0 && !is_made_by_receiver(shape)) {
      const auto found = device_.shareable_location(buffer);
      if (!found) return not_found(field, shape, "is not in memory that other processes can open");
      if (size > found->block.size - found->offset) return not_found(field, shape, "is longer than its allocation");
      location.offset = found->offset;
      location.allocation = position_of(found->block);
      if (out_.allocations.size() >= kMostDescriptors) {
        return array_.tree().path(0) + " has buffers in more than " + std::to_string(kMostDescriptors - 1) +
               " allocations";
      }
    }
    out_.buffers.push_back(location);
    return std::nullopt;
  }

  std::optional<std::string> not_found(int32_t field, BufferShape shape, const char* why) const {
    return array_.tree().path(field) + ": the " + schema::buffer_name(shape) + " buffer " + why;
  }

  // Returns the position of an allocation in the list, to which it is added.
  int64_t position_of(const device::ShareableBlock& block) {
    const auto [entry, is_new] = positions_.try_emplace(block.buffer, std::ssize(out_.allocations));
    if (is_new) out_.allocations.push_back(block);
    return entry->second;
  }

  const schema::Binding& array_;
  const device::Device& device_;
  BufferLocations& out_;
  std::unordered_map<const void*, int64_t> positions_;  // of the allocations
};

}  // namespace

std::optional<std::string> locate_buffers(const schema::Binding& array, const device::Device& device,
                                          std::span<const int64_t> sizes, BufferLocations& out) {
  return Finding(array, device, out).run(sizes);
}

}  // namespace arrowdevice::link
