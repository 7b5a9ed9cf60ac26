// SPDX-License-Identifier: Apache-2.0
#include "array/sizes.h"

#include <cerrno>
#include <string>

#include "base/checked.h"
#include "transfer/extents.h"

namespace arrowdevice::array {
namespace {

using schema::BufferShape;

class Measuring {
 public:
  Measuring(const schema::Binding& array, transfer::Contents* contents, bool sizes_on_host)
      : array_(array), contents_(contents), sizes_on_host_(sizes_on_host) {}

  BufferSizes run() {
    measure();
    // What lies on the device is asked for in the first round, and there in the second.
    if (contents_ != nullptr && contents_->has_wishes()) {
      contents_->read_back();
      measure();
    }
    return std::move(sizes_);
  }

 private:
  void measure() {
    sizes_ = {};
    for (int32_t field = 0; field < array_.tree().size(); ++field) {
      sizes_.first.push_back(sizes_.bytes.size());
      size_t position = 0;
      for (const auto shape : array_.tree()[field].type.info().buffers) {
        const int64_t repeat = shape == BufferShape::kVariadic ? array_.n_variadic(field) : 1;
        for (int64_t i = 0; i < repeat; ++i) {
          const void* buffer = array_.buffers(field)[position++];
          sizes_.bytes.push_back(buffer == nullptr ? 0 : size_of(field, shape, i));
        }
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

  int64_t not_negative(int32_t field, const std::string& buffer, int64_t size) const {
    if (size < 0) array_.refuse(field, "the " + buffer + " buffer has " + std::to_string(size) + " bytes");
    return size;
  }

  const schema::Binding& array_;
  transfer::Contents* const contents_;
  const bool sizes_on_host_;
  BufferSizes sizes_;
};

}  // namespace

BufferSizes buffer_sizes(const schema::Binding& array, transfer::Contents* contents, bool sizes_on_host) {
  return Measuring(array, contents, sizes_on_host).run();
}

}  // namespace arrowdevice::array
