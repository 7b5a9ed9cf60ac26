/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file stream.hpp
 * Streams, which are ranges of arrays. arrowdevice.hpp has the conventions.
 */
#ifndef ARROWDEVICE_CPP_STREAM_HPP
#define ARROWDEVICE_CPP_STREAM_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "device.hpp"
#include "owner.hpp"

namespace arrowdevice {
namespace cpp {

/**
 * Makes options with `struct_size` and these flags (ARROWDEVICE_STREAM_*). All other members are 0.
 */
inline arrowdevice_stream_options stream_options(uint32_t flags = 0) noexcept {
  auto options = detail::sized<arrowdevice_stream_options>();
  options.flags = flags;
  return options;
}

namespace detail {

/**
 * Iterates over a stream, which must outlive the iterator. Copies of an iterator share one item. As
 * with every input iterator, a step of one copy makes the others invalid.
 */
template <typename Stream, typename Item>
class StreamIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Item;
  using difference_type = std::ptrdiff_t;
  using pointer = Item*;
  using reference = Item&;

  /** Makes the end of a stream. */
  StreamIterator() noexcept = default;
  /** Reads the first item of the stream. */
  explicit StreamIterator(Stream& stream) : stream_(&stream), item_(std::make_shared<Item>()) { ++*this; }

  /** Returns the item. If the caller does not move it, the next step releases it. */
  Item& operator*() const noexcept { return *item_; }
  Item* operator->() const noexcept { return item_.get(); }
  /** Reads the next item. If the call throws, the item is empty. */
  StreamIterator& operator++() {
    item_->reset();
    *item_ = stream_->next();
    if (!*item_) stream_ = nullptr;
    return *this;
  }
  /** Item that a postfix increment returns. */
  class Passed {
   public:
    explicit Passed(Item&& item) noexcept : item_(std::move(item)) {}
    Item operator*() noexcept { return std::move(item_); }

   private:
    Item item_;
  };
  Passed operator++(int) {
    Passed passed(std::move(*item_));
    ++*this;
    return passed;
  }
  friend bool operator==(const StreamIterator& a, const StreamIterator& b) noexcept { return a.stream_ == b.stream_; }
  friend bool operator!=(const StreamIterator& a, const StreamIterator& b) noexcept { return !(a == b); }

 private:
  Stream* stream_ = nullptr; /* NULL at the end */
  std::shared_ptr<Item> item_;
};

}  // namespace detail

/**
 * Owns an ArrowArrayStream. It is a range of Array that can be read once: `for (Array& batch :
 * stream)`. An Exception has only the producer's code and text, because a C stream carries nothing
 * else.
 */
class ArrayStream : public detail::StructOwner<ArrowArrayStream> {
 public:
  using StructOwner::StructOwner;
  using iterator = detail::StreamIterator<ArrayStream, Array>;

  /** Calls `get_schema`. The call may come before, between and after the arrays. */
  Schema schema() {
    check_alive();
    Schema out;
    const int code = get()->get_schema(get(), out.get());
    if (code != 0) fail(code, "get_schema", detail::release_of(*out.get()));
    return out;
  }
  /** Calls `get_next`. An empty owner marks the end. */
  Array next() {
    check_alive();
    Array out;
    const int code = get()->get_next(get(), out.get());
    if (code != 0) fail(code, "get_next", detail::release_of(*out.get()));
    return out;
  }
  iterator begin() { return iterator(*this); }
  iterator end() noexcept { return {}; }

 private:
  void check_alive() const {
    if (!*this) detail::fail(EINVAL, "the stream is released");
  }
  template <typename Release>
  [[noreturn]] void fail(int code, const char* call, Release& release) {
    release = nullptr; /* the failed call may have left any value there */
    const char* const text = get()->get_last_error(get());
    detail::fail(code, text != nullptr
                           ? std::string(text)
                           : std::string(call) + " of the stream failed with errno " + std::to_string(code));
  }
};

/**
 * Owns an ArrowDeviceArrayStream. It is a range of DeviceArray that can be read once: `for
 * (DeviceArray& batch : stream)`.
 */
class DeviceArrayStream : public detail::StructOwner<ArrowDeviceArrayStream> {
 public:
  using StructOwner::StructOwner;
  using iterator = detail::StreamIterator<DeviceArrayStream, DeviceArray>;

  /** Calls arrowdevice_stream_from_arrays(). If the call throws, the arrays are as they were. */
  static DeviceArrayStream from_arrays(Schema&& moved, std::vector<DeviceArray>&& moved_arrays, ArrowDeviceType type) {
    std::vector<ArrowDeviceArray> arrays(moved_arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) moved_arrays[i].hand_over(&arrays[i]);
    DeviceArrayStream out;
    try {
      detail::call(arrowdevice_stream_from_arrays, moved.get(), arrays.data(), static_cast<int64_t>(arrays.size()),
                   type, out.get());
    } catch (...) {
      for (size_t i = 0; i < arrays.size(); ++i) moved_arrays[i] = DeviceArray(&arrays[i]);
      throw;
    }
    return out;
  }
  /** Calls arrowdevice_stream_from_host(). */
  static DeviceArrayStream from_host(ArrayStream&& moved) {
    DeviceArrayStream out;
    detail::call(arrowdevice_stream_from_host, moved.get(), out.get());
    return out;
  }
  /** Calls arrowdevice_stream_to_device(). */
  DeviceArrayStream to_device(Device to) && { return to_device(to, nullptr); }
  DeviceArrayStream to_device(Device to, const arrowdevice_stream_options& options) && {
    return to_device(to, &options);
  }
  /** Calls arrowdevice_stream_to_host(). */
  ArrayStream to_host() && { return to_host(nullptr); }
  ArrayStream to_host(const arrowdevice_stream_options& options) && { return to_host(&options); }

  /**
   * Calls arrowdevice_stream_get_schema(). The call may come before, between and after the arrays.
   */
  Schema schema() {
    Schema out;
    detail::call(arrowdevice_stream_get_schema, get(), out.get());
    return out;
  }
  /** Calls arrowdevice_stream_get_next(). An empty owner marks the end. */
  DeviceArray next() {
    DeviceArray out;
    detail::call(arrowdevice_stream_get_next, get(), out.get());
    return out;
  }
  iterator begin() { return iterator(*this); }
  iterator end() noexcept { return {}; }
  /**
   * Calls arrowdevice_stream_get_metadata(). Returns encoded metadata, or NULL if there is none.
   *
   * @param kind  ARROWDEVICE_METADATA_STREAM or ARROWDEVICE_METADATA_ITEM.
   */
  const char* metadata(int32_t kind) {
    const char* out = nullptr;
    detail::call(arrowdevice_stream_get_metadata, get(), kind, &out);
    return out;
  }
  /** Calls arrowdevice_stream_cancel(). Any thread may call it. */
  void cancel() { detail::call(arrowdevice_stream_cancel, get()); }

 private:
  DeviceArrayStream to_device(Device to, const arrowdevice_stream_options* options) {
    DeviceArrayStream out;
    detail::call(arrowdevice_stream_to_device, get(), to.get(), options, out.get());
    return out;
  }
  ArrayStream to_host(const arrowdevice_stream_options* options) {
    ArrayStream out;
    detail::call(arrowdevice_stream_to_host, get(), options, out.get());
    return out;
  }
};

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_CPP_STREAM_HPP */
