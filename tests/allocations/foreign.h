// SPDX-License-Identifier: Apache-2.0
// Streams, consumers and producers of others, of which scenarios decide every step. Their own memory is always there:
// it lies in the structs, or is spared.
#pragma once

#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "allocations/scene.h"

namespace allocations {

using DeviceStream = Owned<ArrowDeviceArrayStream>;
using HostStream = Owned<ArrowArrayStream>;

// Every stream has so many arrays, each with all rows.
inline constexpr int kBatches = 3;

// Arrays on one device, ready to be handed out.
struct Batches {
  Batches(const Rows& of, int64_t id);

  const Rows& rows;
  std::array<Array, kBatches> arrays;
};

DeviceStream foreign_stream(const Rows& rows, int64_t id);
HostStream foreign_host_stream(const Rows& rows);

// What a consumer got of a stream, until its end or a failure.
struct Pulled {
  // Returns the code, and fills the error as a function of the library does.
  int pull(ArrowDeviceArrayStream* stream, arrowdevice_error* error);
  int pull(ArrowArrayStream* stream, arrowdevice_error* error);

  void check_rows(const Rows& rows);  // of what there is, which goes
  void check_all(const Rows& rows);   // and that it is all there is

  std::array<Array, kBatches + 1> arrays;
  int n = 0;

 private:
  Array& next_place();
};

// A handler that takes everything. It lives on behind its release, and a producer may be asked as long as that lives.
class Consumer {
 public:
  Consumer();
  Consumer(const Consumer&) = delete;

  ArrowAsyncDeviceStreamHandler* handler() { return &handler_; }

  bool was_called();  // a callback was made
  bool is_released();

  // Waits for the release. Returns the code that was told, with the text.
  int wait(arrowdevice_error* error);
  // What was told is over, without an end and without an error.
  bool was_dropped();

  Pulled pulled;

 private:
  struct Callbacks;

  void note(bool Consumer::*what);

  ArrowAsyncDeviceStreamHandler handler_{};
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Owned<ArrowSchema> schema_;
  int code_ = 0;
  std::array<char, 256> text_{};
  bool was_called_ = false;
  bool has_ended_ = false;
  bool is_released_ = false;
};

// A producer that tells a handler of the library everything, by the rules: what is refused is discarded, and nothing
// but the release follows. With `fails`, it ends with an error.
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

// The program's executor: work is done when the program says so, on the calling thread.
class Executor {
 public:
  void run();
  arrowdevice_async_options options();

 private:
  static int submit(void* self, void (*task)(void*), void* arg);

  void (*task_)(void*) = nullptr;
  void* arg_ = nullptr;
};

}  // namespace allocations
