// SPDX-License-Identifier: Apache-2.0
// An application beside the library: it uses the driver directly, in the primary context of GPU 0.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "drivers/vendor.h"

namespace hardware {

// Calls the driver. Throws if the call fails.
template <typename... Arguments>
void must_call(const char* symbol, Arguments... arguments) {
  const int result = drivers::call(symbol, arguments...);
  if (result != 0) throw std::runtime_error(std::string(symbol) + " gave " + std::to_string(result));
}

bool has(const char* symbol);
bool is_stand_in();

// Makes the primary context of GPU 0 current on this thread for a scope. If the context is lost, the calls in the scope
// report it.
class Current {
 public:
  Current();
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const bool is_pushed_;
};

// Returns the library's device for GPU 0. The first call starts the driver.
arrowdevice_device* gpu();

// Returns all memory of the library to the driver, when no work is deferred any more. A stand-in fails at exit if
// memory is left.
void return_memory();

// Device memory that is filled with a byte. Address of the driver.
class Memory {
 public:
  explicit Memory(int64_t size, unsigned char value = 0);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  uint64_t address() const { return address_; }
  void* pointer() const { return reinterpret_cast<void*>(address_); }
  int64_t size() const { return size_; }
  // Returns true if every byte has the value. Copies the memory to the host.
  bool is_filled_with(unsigned char value) const;

 private:
  const int64_t size_;
  uint64_t address_ = 0;
};

// A stream of the application, which is idle when it is destroyed, and a queue of the library for it.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void* get() const { return stream_; }
  arrowdevice_queue* queue() const { return queue_; }
  void fill(uint64_t address, unsigned char value, int64_t size) const;
  void copy(uint64_t to, uint64_t from, int64_t size) const;
  void finish() const;

 private:
  void* stream_ = nullptr;
  arrowdevice_queue* queue_ = nullptr;
};

// Pinned or pageable host memory, not initialized.
class HostMemory {
 public:
  HostMemory(int64_t size, bool is_pinned);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  unsigned char* bytes() const { return bytes_; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(bytes_); }

 private:
  const bool is_pinned_;
  std::unique_ptr<unsigned char[]> pageable_;
  unsigned char* bytes_ = nullptr;
};

// A stream with a gate, at which all later work of the stream waits. cuStreamWaitValue32() waits for a word in host
// memory, cuLaunchHostFunc() for a function that returns.
class Gate {
 public:
  enum class Kind { kValue, kHostFunction };

  explicit Gate(Kind kind);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open();
  const Stream& stream() const { return stream_; }

 private:
  HostMemory word_;
  std::atomic<bool> is_open_{false};
  Stream stream_;
};

// Runs the body on another thread. If it has not returned after `seconds`, calls `unblock`, waits for it and throws.
void must_not_block(double seconds, const std::function<void()>& unblock, const std::function<void()>& body);

// A uint8 array over device memory that the caller keeps, ready when the event has fired. Its release adds 1 to
// `releases`, if that is not NULL.
ArrowDeviceArray array_over(void* memory, int64_t rows, void** event, std::atomic<int>* releases = nullptr);
const ArrowSchema& bytes_schema();

}  // namespace hardware
