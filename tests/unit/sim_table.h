// SPDX-License-Identifier: Apache-2.0
// Calls the simulated backend's table of functions, and throws if a call fails.
#pragma once

#include <arrowdevice/backend.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/control.h"
#include "support/calls.h"
#include "support/catch.h"

namespace sim_test {

namespace control = arrowdevice::sim::control;
using arrowdevice::testing::must;
using arrowdevice::testing::output_of;
using arrowdevice::testing::sized;

// Returns the errno value of a call of the table. The caller omits the error argument.
template <typename... Parameters, typename... Arguments>
int code(int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  const int result = function(arguments..., &error);
  CHECK(error.code == result);  // zero if the call succeeded
  return result;
}

// Fails unless the call fails. Returns the message.
template <typename... Parameters, typename... Arguments>
std::string message(int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  CHECK(function(arguments..., &error) != 0);
  return error.message;
}

inline bool contains(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

inline const arrowdevice_backend& table() { return *control::table(); }

// Returns a configuration. `words` is as in ARROWDEVICE_SIM_DEVICES: 'a' for addresses, 'h' for handles.
inline arrowdevice::sim::Configuration devices(const std::string& words) {
  arrowdevice::sim::Configuration configuration;
  configuration.devices.clear();
  for (const char word : words) configuration.devices.push_back({.addresses = word == 'a'});
  return configuration;
}

inline void* open(int64_t id) { return output_of(table().device_open, ARROW_DEVICE_EXT_DEV, id); }

class Buffer {
 public:
  Buffer(void* device, int64_t size) : device_(device), size_(size) {
    must(table().buffer_allocate, device, nullptr, size, int64_t{64}, &handle_);
  }
  ~Buffer() { control::table()->buffer_free(device_, nullptr, handle_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* device() const { return device_; }
  void* get() const { return handle_; }
  int64_t size() const { return size_; }

 private:
  void* device_;
  void* handle_ = nullptr;
  int64_t size_;
};

class Event {
 public:
  Event() = default;
  explicit Event(void* handle) : handle_(handle) {}
  Event(Event&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (handle_ != nullptr) control::table()->event_destroy(handle_);
  }

  void* get() const { return handle_; }
  void** out() { return &handle_; }
  int wait(int64_t timeout_ns = ARROWDEVICE_NO_TIMEOUT) const { return code(table().event_wait, handle_, timeout_ns); }
  bool ready() const {
    int is_ready = -1;
    must(table().event_query, handle_, &is_ready);
    return is_ready == 1;
  }

 private:
  void* handle_ = nullptr;
};

inline arrowdevice_backend_region to_device(const Buffer& buffer, const void* from, int64_t offset = 0,
                                            int64_t size = -1) {
  return {.dst_device = buffer.device(),
          .dst = buffer.get(),
          .dst_offset = offset,
          .src_device = nullptr,
          .src = from,
          .src_offset = 0,
          .size = size < 0 ? buffer.size() - offset : size,
          .reserved = 0};
}

inline arrowdevice_backend_region to_host(void* to, const Buffer& buffer, int64_t offset = 0, int64_t size = -1) {
  return {.dst_device = nullptr,
          .dst = to,
          .dst_offset = 0,
          .src_device = buffer.device(),
          .src = buffer.get(),
          .src_offset = offset,
          .size = size < 0 ? buffer.size() - offset : size,
          .reserved = 0};
}

inline arrowdevice_backend_region between(const Buffer& to, const Buffer& from) {
  return {.dst_device = to.device(),
          .dst = to.get(),
          .dst_offset = 0,
          .src_device = from.device(),
          .src = from.get(),
          .src_offset = 0,
          .size = from.size(),
          .reserved = 0};
}

class Queue {
 public:
  explicit Queue(void* device) { must(table().queue_create, device, &handle_); }
  ~Queue() { control::table()->queue_destroy(handle_); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void* get() const { return handle_; }
  int try_copy(const arrowdevice_backend_region& region) const {
    return code(table().queue_copy, handle_, &region, int64_t{1});
  }
  void copy(const arrowdevice_backend_region& region) const { REQUIRE(try_copy(region) == 0); }
  void wait(const Event& event) const { must(table().queue_wait_event, handle_, event.get()); }
  Event record() const {
    Event event;
    must(table().event_record, handle_, event.out());
    return event;
  }
  int finish() const { return record().wait(); }

 private:
  void* handle_ = nullptr;
};

// Returns bytes that differ from each other, from zero, and from fresh device memory.
inline std::vector<std::byte> sample(int64_t size) {
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 97 + 1);
  return bytes;
}

inline std::vector<std::byte> content(int64_t id, const Buffer& buffer) {
  std::vector<std::byte> bytes(static_cast<size_t>(buffer.size()));
  control::peek(id, buffer.get(), 0, bytes.data(), buffer.size());
  return bytes;
}

}  // namespace sim_test
