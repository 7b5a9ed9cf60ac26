// SPDX-License-Identifier: Apache-2.0
#include "inspect/sizes.h"

#include <cerrno>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "device/queue.h"
#include "transfer/extents.h"

namespace arrowdevice::inspect {
namespace {

using schema::BufferShape;

class Measuring {
 public:
  Measuring(const schema::Binding& array, transfer::SourceReader* contents, bool sizes_on_host,
            std::pmr::memory_resource* memory)
      : array_(array), contents_(contents), sizes_on_host_(sizes_on_host), sizes_(memory) {
    sizes_.reserve(static_cast<size_t>(array.buffer_count()));
  }

  std::pmr::vector<int64_t> run() {
    measure();
    // The first round adds the pending reads of device data. The second round uses the data.
    if (contents_ != nullptr && contents_->has_pending_reads()) {
      contents_->read_back();
      measure();
    }
    return std::move(sizes_);
  }

 private:
  void measure() {
    sizes_.clear();
    for (int32_t field = 0; field < array_.tree().size(); ++field) {
      const void* const* buffer = array_.buffers(field).data();
      if (array_.is_plain(field)) {
        const int64_t slots = array_[field].length + array_[field].offset;
        sizes_.push_back(buffer[0] == nullptr ? 0 : bytes_for_bits(slots));
        sizes_.push_back(bytes_for_bits(slots * array_.tree()[field].type.bit_width));
        continue;
      }
      for (const auto shape : array_.tree()[field].type.info().buffers) {
        const int64_t repeat = shape == BufferShape::kVariadic ? array_.n_variadic(field) : 1;
        for (int64_t i = 0; i < repeat; ++i) sizes_.push_back(*buffer++ == nullptr ? 0 : size_of(field, shape, i));
      }
    }
  }

  int64_t size_of(int32_t field, BufferShape shape, int64_t index) {
    const auto& array = array_[field];
    switch (shape) {
      case BufferShape::kBytes: return bytes_of(field);
      case BufferShape::kVariadic: return variadic_bytes(field, index);
      case BufferShape::kVariadicSizes: return array_.n_variadic(field) * 8;
      default: return schema::buffer_bytes(array_.tree()[field].type, shape, array.offset + array.length);
    }
  }

  int64_t bytes_of(int32_t field) {
    const auto& array = array_[field];
    if (array.length == 0) return 0;
    if (contents_ == nullptr) return kUnknownSize;
    const int width = array_.tree()[field].type.info().offset_bytes;
    const auto* offsets = array_.buffers(field)[1];
    const auto* entry = contents_->find(offsets, checked_mul(array.offset + array.length, width), width);
    if (entry == nullptr) return kUnknownSize;
    return not_negative(field, "data", transfer::load_index(entry, 0, width));
  }

  int64_t variadic_bytes(int32_t field, int64_t index) {
    const void* sizes = array_.buffers(field).back();
    const uint8_t* entries = nullptr;
    if (sizes_on_host_) {
      entries = static_cast<const uint8_t*>(sizes);
    } else if (contents_ != nullptr) {
      entries = contents_->find(sizes, 0, array_.n_variadic(field) * 8);
    }
    if (entries == nullptr) return kUnknownSize;
    return not_negative(field, "variadic", transfer::load_index(entries, index, 8));
  }

  int64_t not_negative(int32_t field, std::string_view buffer, int64_t size) const {
    if (size < 0) {
      array_.refuse(field, "the " + std::string(buffer) + " buffer has " + std::to_string(size) + " bytes");
    }
    return size;
  }

  const schema::Binding& array_;
  transfer::SourceReader* const contents_;
  const bool sizes_on_host_;
  std::pmr::vector<int64_t> sizes_;
};

}  // namespace

std::pmr::vector<int64_t> buffer_sizes(const schema::Binding& array, transfer::SourceReader* contents,
                                       bool sizes_on_host, std::pmr::memory_resource* memory) {
  return Measuring(array, contents, sizes_on_host, memory).run();
}

std::pmr::vector<int64_t> read_buffer_sizes(const schema::Binding& array, device::Device& device,
                                            const device::ForeignEvent& event, const Deadline& deadline,
                                            ArrowDeviceArray* moved, std::pmr::memory_resource* memory) {
  event.wait(deadline.left());
  const bool sizes_on_host = array.has_variadic() && transfer::variadic_sizes_on_host(array, device);
  if (device.is_on_host()) {
    transfer::SourceReader contents;
    return buffer_sizes(array, &contents, sizes_on_host, memory);
  }
  const device::QueueLease lease(device);
  transfer::SourceReader contents(device, *lease.get(), event, deadline, moved);
  return buffer_sizes(array, &contents, sizes_on_host, memory);
}

}  // namespace arrowdevice::inspect
