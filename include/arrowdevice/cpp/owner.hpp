/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file owner.hpp
 * Exceptions, time-outs, and the owners of structs and handles. arrowdevice.hpp has the
 * conventions.
 */
#ifndef ARROWDEVICE_CPP_OWNER_HPP
#define ARROWDEVICE_CPP_OWNER_HPP

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "../arrowdevice.h"

#if !defined(__cpp_exceptions) && !defined(__EXCEPTIONS) && !defined(_CPPUNWIND)
#error "arrowdevice.hpp reports failures by exceptions; a program without them uses arrowdevice.h"
#endif

namespace arrowdevice {
namespace cpp {

/** Waits without limit. */
inline constexpr std::chrono::nanoseconds kNoTimeout = std::chrono::nanoseconds::max();
/** Does not wait. A duration of zero or less means the same. */
inline constexpr std::chrono::nanoseconds kPoll = std::chrono::nanoseconds::zero();

/** Failure of a function of the library. */
class Exception : public std::exception {
 public:
  Exception(int code, const arrowdevice_error& error) noexcept : error_(error) { error_.code = code; }

  /** Returns the errno value of the function. */
  int code() const noexcept { return error_.code; }
  /** Returns the vendor's own code, 0 if there is none. */
  int native_code() const noexcept { return error_.native_code; }
  /** Returns the name of the backend, "" if the library itself failed. */
  const char* backend() const noexcept { return error_.backend; }
  /** Returns the message, which is valid as long as the exception. */
  const char* what() const noexcept override { return error_.message; }
  /** Returns the whole C struct. */
  const arrowdevice_error& error() const noexcept { return error_; }

 private:
  arrowdevice_error error_; /* by value, because copying an exception must not throw */
};

namespace detail {

/** Throws an Exception for a failure that a C function did not report. */
[[noreturn]] inline void fail(int code, const std::string& message) {
  arrowdevice_error error{};
  message.copy(error.message, sizeof error.message - 1);
  throw Exception(code, error);
}

/** Returns the C time-out of a duration. */
inline int64_t timeout_ns(std::chrono::nanoseconds timeout) noexcept {
  if (timeout == kNoTimeout) return ARROWDEVICE_NO_TIMEOUT;
  return timeout > kPoll ? int64_t{timeout.count()} : int64_t{ARROWDEVICE_POLL};
}

template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
  arrowdevice_error error{};
  const int code = function(arguments..., &error);
  if (code != 0) throw Exception(code, error);
}

/* Finds the release callback of each struct. */
inline auto& release_of(ArrowSchema& c) noexcept { return c.release; }
inline auto& release_of(ArrowArray& c) noexcept { return c.release; }
inline auto& release_of(ArrowDeviceArray& c) noexcept { return c.array.release; }
inline auto& release_of(ArrowArrayStream& c) noexcept { return c.release; }
inline auto& release_of(ArrowDeviceArrayStream& c) noexcept { return c.release; }
inline auto& release_of(arrowdevice_ipc_handle& c) noexcept { return c.release; }

inline void release(ArrowSchema& c) noexcept { arrowdevice_schema_release(&c); }
inline void release(ArrowArray& c) noexcept { arrowdevice_host_array_release(&c); }
inline void release(ArrowDeviceArray& c) noexcept { arrowdevice_array_release(&c); }
inline void release(ArrowArrayStream& c) noexcept {
  if (c.release != nullptr) c.release(&c);
}
inline void release(ArrowDeviceArrayStream& c) noexcept { arrowdevice_stream_release(&c); }
inline void release(arrowdevice_ipc_handle& c) noexcept { arrowdevice_ipc_handle_release(&c); }

/** Owns a struct with a release callback. */
template <typename Struct>
class StructOwner {
 public:
  StructOwner() noexcept : c_{} {}
  /** Takes a struct over and marks it released. */
  explicit StructOwner(Struct* moved) noexcept : c_(*moved) { release_of(*moved) = nullptr; }
  StructOwner(StructOwner&& other) noexcept : StructOwner(&other.c_) {}
  StructOwner& operator=(StructOwner&& other) noexcept {
    if (this != &other) {
      reset();
      c_ = other.c_;
      release_of(other.c_) = nullptr;
    }
    return *this;
  }
  StructOwner(const StructOwner&) = delete;
  StructOwner& operator=(const StructOwner&) = delete;
  ~StructOwner() { reset(); }

  /** Tells if the owner holds a struct that is not released. */
  explicit operator bool() const noexcept { return release_of(const_cast<Struct&>(c_)) != nullptr; }
  /** Returns the struct, which this object still owns. */
  Struct* get() noexcept { return &c_; }
  const Struct* get() const noexcept { return &c_; }
  const Struct& operator*() const noexcept { return c_; }
  const Struct* operator->() const noexcept { return &c_; }
  /** Releases the struct and returns it, so that a C function can fill it. */
  Struct* out() noexcept {
    reset();
    return &c_;
  }
  /** Moves the struct to `to`, which is overwritten and owns it afterwards. */
  void hand_over(Struct* to) noexcept {
    *to = c_;
    release_of(c_) = nullptr;
  }
  /** Releases the struct, if there is one. */
  void reset() noexcept {
    release(c_);
    release_of(c_) = nullptr;
  }

 private:
  Struct c_;
};

/** Owns a handle of the library. */
template <typename Handle, void (*Destroy)(Handle*)>
class HandleOwner {
 public:
  HandleOwner() noexcept = default;
  explicit HandleOwner(Handle* moved) noexcept : handle_(moved) {}
  HandleOwner(HandleOwner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  HandleOwner& operator=(HandleOwner&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  HandleOwner(const HandleOwner&) = delete;
  HandleOwner& operator=(const HandleOwner&) = delete;
  ~HandleOwner() { reset(); }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /** Returns the handle, which this object still owns. */
  Handle* get() const noexcept { return handle_; }
  /** Returns the handle and gives it up. The caller destroys it. */
  Handle* give_up() noexcept { return std::exchange(handle_, nullptr); }
  /** Destroys the handle, if there is one. */
  void reset() noexcept {
    if (handle_ != nullptr) Destroy(std::exchange(handle_, nullptr));
  }

 private:
  Handle* handle_ = nullptr;
};

/* Returns the handle of an owner. Throws if the owner is empty, because NULL means a default to the C function. */
template <typename Owner>
auto* held_by(const Owner& owner, const char* name) {
  if (!owner) fail(EINVAL, std::string("the ") + name + " is empty");
  return owner.get();
}
template <typename Owner>
auto* held_by(const Owner* owner, const char* name) {
  return owner == nullptr ? nullptr : held_by(*owner, name);
}

template <typename Struct>
Struct sized() noexcept {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

}  // namespace detail

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_CPP_OWNER_HPP */
