/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file values.hpp
 * The values of an array: spans, bits and nodes. arrowdevice.hpp has the conventions.
 */
#ifndef ARROWDEVICE_CPP_VALUES_HPP
#define ARROWDEVICE_CPP_VALUES_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "device.hpp"
#include "owner.hpp"

namespace arrowdevice {
namespace cpp {

#if __cplusplus >= 202002L
/** Values in memory that the CPU reads. */
template <typename T>
using Span = std::span<T>;
#else
/** Values in memory that the CPU reads. Before C++20 this class stands for std::span. */
template <typename T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = std::size_t;
  using iterator = T*;

  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  constexpr T& front() const noexcept { return data_[0]; }
  constexpr T& back() const noexcept { return data_[size_ - 1]; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr Span subspan(std::size_t offset, std::size_t count) const noexcept { return {data_ + offset, count}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};
#endif

/** Values in a device's memory: a typed address for kernels. The class never reads the values. */
template <typename T>
class DeviceSpan {
 public:
  DeviceSpan(Device device, T* data, std::size_t size) noexcept : device_(device), data_(data), size_(size) {}

  Device device() const noexcept { return device_; }
  /** Returns the device's address of the first value. */
  T* data() const noexcept { return data_; }
  /** Returns the number of values. */
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  Device device_;
  T* data_;
  std::size_t size_;
};

/** Bits in memory that the CPU reads: booleans, or a validity bitmap. */
class Bits {
 public:
  /** Makes a range of bits. If `bits` is NULL, all of them are set. */
  Bits(const uint8_t* bits, int64_t offset, int64_t size) noexcept : bits_(bits), offset_(offset), size_(size) {}

  std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
  bool operator[](std::size_t i) const noexcept {
    if (bits_ == nullptr) return true;
    const int64_t bit = offset_ + static_cast<int64_t>(i);
    return (bits_[bit / 8] >> (bit % 8) & 1) != 0;
  }

 private:
  const uint8_t* bits_;
  int64_t offset_, size_;
};

/**
 * One node of a view. Row 0 is its first visible row: the offsets of the node and of its parent
 * structs are applied already. A Node is a few pointers, and is valid as long as the view. The
 * caller may read values in host memory when the array's event has fired. View::wait() waits for
 * that event.
 */
class Node {
 public:
  Node(const arrowdevice_node& node, Device device) noexcept : Node(node, device, node.offset, node.length) {}

  /** Returns the C struct. */
  const arrowdevice_node& get() const noexcept { return *node_; }
  /** Returns the name, or "" if there is none. */
  std::string_view name() const noexcept { return node_->name != nullptr ? node_->name : ""; }
  std::string_view format() const noexcept { return node_->format; }
  /** Returns the number of rows. */
  int64_t size() const noexcept { return size_; }
  int64_t n_children() const noexcept { return node_->n_children; }

  /**
   * Returns a child. If this node is a struct, a sparse union or a fixed-size list, the result has
   * the values of this node's rows. Otherwise, as for a list, the result is the whole child. Throws
   * EINVAL if there is no such child.
   */
  Node child(int64_t index) const {
    if (index < 0 || index >= node_->n_children) {
      refuse(EINVAL, "there is no child " + std::to_string(index) + ", but " + std::to_string(node_->n_children));
    }
    const arrowdevice_node& child = *node_->children[index];
    switch (node_->layout) {
      case ARROWDEVICE_LAYOUT_STRUCT:
      case ARROWDEVICE_LAYOUT_SPARSE_UNION: return Node(child, device_, child.offset + first_, size_);
      case ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST:
        return Node(child, device_, child.offset + first_ * node_->list_size, size_ * node_->list_size);
      default: return Node(child, device_);
    }
  }
  /** Returns the first child of that name. Throws EINVAL if there is none. */
  Node child(std::string_view name) const {
    for (int64_t i = 0; i < node_->n_children; ++i) {
      const char* const found = node_->children[i]->name;
      if (found != nullptr && name == found) return child(i);
    }
    refuse(EINVAL, "there is no child \"" + std::string(name) + "\"");
  }

  /**
   * Returns the values in place, nulls included (see validity()). `T` must have the width and kind
   * of the format:
   *
   * - a signed or unsigned integer, also for dates, times, decimals of up to 64 bits and dictionary
   *   indices;
   * - a floating-point type, or uint16_t for half floats;
   * - a class of the same size for wider decimals, fixed-size binary and intervals.
   *
   * Throws EINVAL if `T` is another type, or if the memory is not aligned for it. Throws ENOTSUP if
   * the CPU cannot read the memory.
   */
  template <typename T>
  Span<const T> values() const {
    check_element<T>();
    const auto* const data = static_cast<const T*>(host_data(data_buffer()));
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0) refuse(EINVAL, "the values are not aligned");
    return Span<const T>(data != nullptr ? data + first_ : nullptr, static_cast<std::size_t>(size_));
  }
  /**
   * Returns the values on the device and checks `T` as values() does. Throws ENOTSUP if buffers are
   * handles.
   */
  template <typename T>
  DeviceSpan<const T> device_values() const {
    check_element<T>();
    if ((device_.info().flags & ARROWDEVICE_DEVICE_ADDRESSES) == 0) {
      refuse(ENOTSUP, "buffers of its device are handles, which have no typed address");
    }
    const auto* const data = static_cast<const T*>(data_buffer().data);
    return DeviceSpan<const T>(device_, data != nullptr ? data + first_ : nullptr, static_cast<std::size_t>(size_));
  }
  /** Returns booleans. Throws as values() does. */
  Bits bits() const {
    if (format() != "b") refuse(EINVAL, "it is not of booleans");
    return Bits(static_cast<const uint8_t*>(host_data(data_buffer())), first_, size_);
  }
  /**
   * Returns a bit for each row, which is set if the row is not null. Throws EINVAL if the layout
   * has no validity, and ENOTSUP if the CPU cannot read the memory.
   */
  Bits validity() const {
    if (node_->n_buffers > 0 && node_->buffers[0].role == ARROWDEVICE_ROLE_VALIDITY) {
      return Bits(static_cast<const uint8_t*>(host_data(node_->buffers[0])), first_, size_);
    }
    refuse(EINVAL, "its layout has no validity of its own");
  }
  /**
   * Returns one row of texts or binary values. The call trusts the array's offsets. If the producer
   * is not trusted, import the array with ARROWDEVICE_VALIDATE_FULL. Throws EINVAL if the
   * layout is not that of texts or binary values with offsets, if there is no such row, or if its
   * offsets decrease. Throws ENOTSUP as values() does.
   */
  std::string_view text(int64_t row) const {
    if (row < 0 || row >= size_) refuse(EINVAL, "there is no row " + std::to_string(row));
    switch (node_->layout) {
      case ARROWDEVICE_LAYOUT_BINARY: return text_at<int32_t>(first_ + row);
      case ARROWDEVICE_LAYOUT_LARGE_BINARY: return text_at<int64_t>(first_ + row);
      default: refuse(EINVAL, "it is not of texts or binary values");
    }
  }

 private:
  Node(const arrowdevice_node& node, Device device, int64_t first, int64_t size) noexcept
      : node_(&node), device_(device), first_(first), size_(size) {}

  [[noreturn]] void refuse(int code, const std::string& why) const {
    const std::string who = name().empty() ? std::string("the array") : '"' + std::string(name()) + '"';
    detail::fail(code, who + " of format " + std::string(format()) + ": " + why);
  }

  /* Returns the kind of a format's values as text, which messages quote. */
  const char* kind() const noexcept {
    switch (node_->format[0]) {
      case 'c':
      case 's':
      case 'i':
      case 'l': return "signed integers";
      case 'd': return node_->bit_width <= 64 ? "signed integers" : "bytes";
      case 'C':
      case 'S':
      case 'I':
      case 'L': return "unsigned integers";
      case 'e':
      case 'f':
      case 'g': return "floating-point numbers";
      case 't': return format() == "tiD" || format() == "tin" ? "bytes" : "signed integers";
      case 'w': return "bytes";
      default: return "booleans";
    }
  }

  template <typename T>
  static const char* kind_of(std::string_view format) noexcept {
    if (std::is_floating_point<T>::value) return "floating-point numbers";
    if (std::is_integral<T>::value && format == "e")
      return std::is_same<T, uint16_t>::value ? "floating-point numbers" : "";
    if (std::is_integral<T>::value) return std::is_signed<T>::value ? "signed integers" : "unsigned integers";
    return "bytes";
  }

  template <typename T>
  void check_element() const {
    static_assert(std::is_same<T, std::remove_cv_t<T>>::value && std::is_trivially_copyable<T>::value,
                  "values are seen as plain types");
    static_assert(!std::is_same<T, bool>::value, "booleans are bits: see bits()");
    if (node_->layout != ARROWDEVICE_LAYOUT_FIXED) refuse(EINVAL, "its values are not of a fixed width");
    constexpr auto kBits = static_cast<int64_t>(8 * sizeof(T));
    if (node_->bit_width == kBits && std::strcmp(kind(), kind_of<T>(format())) == 0) return;
    refuse(EINVAL, "its values are " + std::string(kind()) + " of " + std::to_string(node_->bit_width) + " bits, not " +
                       kind_of<T>("") + " of " + std::to_string(kBits));
  }

  const arrowdevice_node_buffer& data_buffer() const {
    for (int32_t i = 0; i < node_->n_buffers; ++i) {
      if (node_->buffers[i].role == ARROWDEVICE_ROLE_DATA) return node_->buffers[i];
    }
    refuse(EINVAL, "it has no data buffer");
  }

  const void* host_data(const arrowdevice_node_buffer& buffer) const {
    if (buffer.data != nullptr && (buffer.flags & ARROWDEVICE_BUFFER_HOST) == 0) {
      refuse(ENOTSUP, "the CPU cannot read the memory of its device");
    }
    return buffer.data;
  }

  template <typename Offset>
  std::string_view text_at(int64_t slot) const {
    const auto* const offsets = static_cast<const unsigned char*>(host_data(node_->buffers[1]));
    const auto* const bytes = static_cast<const char*>(host_data(data_buffer()));
    Offset ends[2]; /* the offsets may have any alignment */
    std::memcpy(ends, offsets + slot * static_cast<int64_t>(sizeof(Offset)), sizeof ends);
    if (ends[0] < 0 || ends[1] < ends[0]) refuse(EINVAL, "offsets of a row go back");
    if (bytes == nullptr) return {};
    return {bytes + ends[0], static_cast<std::size_t>(ends[1] - ends[0])};
  }

  const arrowdevice_node* node_;
  Device device_;
  int64_t first_, size_; /* rows, in the buffers */
};

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_CPP_VALUES_HPP */
