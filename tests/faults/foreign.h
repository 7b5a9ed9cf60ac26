// SPDX-License-Identifier: Apache-2.0
// Foreign streams, consumers and producers. The operation controls each of their steps. Their own
// allocations never fail, because the memory lies in the structs or is spared.
#pragma once

#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "faults/scene.h"

namespace faults {

using DeviceStream = Owned<ArrowDeviceArrayStream>;
using HostStream = Owned<ArrowArrayStream>;

// A path of a stream's arrays.
struct Way {
  int64_t from, to;
  uint32_t flags = 0;
  Machine machine = {};
  const char* how = "";

  std::string text() const { return std::string(how) + kind_of(from) + " to " + kind_of(to); }
};

// The number of arrays in each stream. Each array has all rows.
inline constexpr int kBatches = 3;

// Arrays on a device that a stream can return.
struct Batches {
  Batches(const Rows& of, int64_t id);

  const Rows& rows;
  std::array<Array, kBatches> arrays;
};

DeviceStream foreign_stream(const Rows& rows, int64_t id);
HostStream foreign_host_stream(const Rows& rows);

// The arrays that a consumer got from a stream before its end or a failure. Each is complete.
struct Pulled {
  // Pulls the whole stream. Returns the code and fills the error like a function of the library.
  int pull(ArrowDeviceArrayStream* stream, arrowdevice_error* error);
  int pull(ArrowArrayStream* stream, arrowdevice_error* error);

  // Waits for the arrays. If one failed after it came, it and later ones are released, and the wait fails.
  int wait(arrowdevice_error* error);

  void check_rows(const Rows& rows);  // checks the arrays so far and releases them
  void check_all(const Rows& rows);   // also checks that they are complete

  std::array<Array, kBatches + 1> arrays;
  int n = 0;
  bool has_failed_later = false;
  const arrowdevice_device* on = nullptr;  // the device of all arrays, if it is known

 private:
  Array& next_place();
  int waited_ = 0;
};

// A handler that takes every array. It outlives its release, so the producer stays valid as long as the
// handler.
class Consumer {
 public:
  Consumer();
  Consumer(const Consumer&) = delete;

  ArrowAsyncDeviceStreamHandler* handler() { return &handler_; }

  bool was_called();  // true if a callback was called
  bool is_released();

  // Waits for the release. Returns the code from the producer and fills the error with its text.
  int wait(arrowdevice_error* error);
  // Returns true if the producer released the handler without an end and without an error.
  bool was_dropped();

  Pulled pulled;

 private:
  struct Callbacks;

  void note(bool Consumer::*what);

  ArrowAsyncDeviceStreamHandler handler_{};
  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  Owned<ArrowSchema> schema_;
  int code_ = 0;
  std::array<char, 256> text_{};
  bool was_called_ = false;
  bool has_ended_ = false;
  bool is_released_ = false;
};

// A producer that follows the rules and calls a handler of the library. If the handler refuses an array,
// the producer discards that array and then only releases the handler. With `fails`, it ends with an error.
class Producer {
 public:
  Producer(const Rows& rows, int64_t id);
  Producer(const Producer&) = delete;

  void tell(ArrowAsyncDeviceStreamHandler* handler);

  static constexpr int kFailure = ENOSPC;
  bool fails = false;

 private:
  int tell_task(ArrowAsyncDeviceStreamHandler* handler, Array& array);

  Batches batches_;
  Owned<ArrowSchema> schema_;
  ArrowAsyncProducer producer_{};
};

// The program's executor. It runs work on the calling thread when the program calls run().
class Executor {
 public:
  void run();
  arrowdevice_async_options options();

 private:
  static int submit(void* self, void (*task)(void*), void* arg);

  void (*task_)(void*) = nullptr;
  void* arg_ = nullptr;
};

}  // namespace faults
