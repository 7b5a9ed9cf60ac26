// SPDX-License-Identifier: Apache-2.0
// Owns the structs of the C interfaces in tests: each struct is released when its owner goes out of scope.
//
//   Owned<ArrowDeviceArray> out;
//   REQUIRE(arrowdevice_array_copy(in.get(), schema.get(), device, nullptr, out.out(), nullptr) == 0);
//
// `out()` releases the old struct and returns a pointer for a function that fills it. `get()` passes the
// struct to a function that reads it or takes ownership. A function that takes ownership marks the struct
// released, so that the owner does not release it again.
#pragma once

#include <arrowdevice/abi.h>

#include <cstring>
#include <utility>

namespace arrowdevice::testing {

inline bool is_released(const ArrowSchema& schema) noexcept { return schema.release == nullptr; }
inline bool is_released(const ArrowArray& array) noexcept { return array.release == nullptr; }
inline bool is_released(const ArrowDeviceArray& array) noexcept { return array.array.release == nullptr; }
inline bool is_released(const ArrowArrayStream& stream) noexcept { return stream.release == nullptr; }
inline bool is_released(const ArrowDeviceArrayStream& stream) noexcept { return stream.release == nullptr; }

inline void mark_released(ArrowSchema& schema) noexcept { schema.release = nullptr; }
inline void mark_released(ArrowArray& array) noexcept { array.release = nullptr; }
inline void mark_released(ArrowDeviceArray& array) noexcept { array.array.release = nullptr; }
inline void mark_released(ArrowArrayStream& stream) noexcept { stream.release = nullptr; }
inline void mark_released(ArrowDeviceArrayStream& stream) noexcept { stream.release = nullptr; }

inline void call_release(ArrowSchema& schema) noexcept { schema.release(&schema); }
inline void call_release(ArrowArray& array) noexcept { array.release(&array); }
inline void call_release(ArrowDeviceArray& array) noexcept { array.array.release(&array.array); }
inline void call_release(ArrowArrayStream& stream) noexcept { stream.release(&stream); }
inline void call_release(ArrowDeviceArrayStream& stream) noexcept { stream.release(&stream); }

template <typename Struct>
class Owned {
 public:
  Owned() noexcept { clear(); }
  // Takes ownership of a struct that was moved here bit by bit.
  explicit Owned(const Struct& taken) noexcept : value_(taken) {}
  Owned(Owned&& other) noexcept : value_(other.value_) { mark_released(other.value_); }
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = other.take();
    }
    return *this;
  }
  ~Owned() { reset(); }

  Struct* get() noexcept { return &value_; }
  const Struct* get() const noexcept { return &value_; }
  Struct* operator->() noexcept { return &value_; }
  const Struct* operator->() const noexcept { return &value_; }
  Struct& operator*() noexcept { return value_; }
  const Struct& operator*() const noexcept { return value_; }

  Struct* out() noexcept {
    reset();
    clear();
    return &value_;
  }
  // Moves the struct out. The caller releases it.
  Struct take() noexcept {
    Struct taken = value_;
    mark_released(value_);
    return taken;
  }
  void reset() noexcept {
    if (!is_released(value_)) call_release(value_);
    mark_released(value_);
  }
  bool released() const noexcept { return is_released(value_); }

 private:
  void clear() noexcept { std::memset(static_cast<void*>(&value_), 0, sizeof value_); }

  Struct value_;
};

}  // namespace arrowdevice::testing
