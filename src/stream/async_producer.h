// SPDX-License-Identifier: Apache-2.0
// Calls a consumer's handler by the rules of the async interface. Passes a source's items as fast as the consumer
// requests them. At any time at most one task of the executor runs for a stream.
#pragma once

#include <arrowdevice/abi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "stream/async_state.h"
#include "stream/device_stream.h"
#include "stream/executor.h"

namespace arrowdevice::stream {

// An item of a source. The destructor releases members that were not moved out.
struct Item {
  enum class Kind { kSchema, kArray, kEnd, kFailure };

  explicit Item(Kind of) noexcept : kind(of) {}
  ~Item();
  Item(Item&& other) noexcept;
  Item& operator=(Item&&) = delete;

  explicit Item(Failure what) noexcept : kind(Kind::kFailure), failure(std::move(what)) {}

  Kind kind;
  ArrowSchema schema{};
  ArrowDeviceArray array{};
  Metadata metadata;  // metadata of the callback; for a schema, metadata of the producer
  Failure failure;
};

// An ArrowAsyncProducer of the library that is valid in both layouts. The layout of the shipped header has 40 bytes.
// The layout of the published text has 48 bytes, with a `release` before the metadata. The metadata is at both offsets.
// Consumers never call `release` and must not use `private_data`, so the owner is found by the struct's address.
struct OwnProducer {
  ArrowAsyncProducer shipped{};        // its private_data is the text's additional_metadata
  void* const private_data = nullptr;  // the text's private_data
  class AsyncProducer* owner = nullptr;

  void set_metadata(const char* encoded) noexcept {
    shipped.additional_metadata = encoded;
    shipped.private_data = const_cast<char*>(encoded);
  }
};
static_assert(std::is_standard_layout_v<OwnProducer> && offsetof(OwnProducer, private_data) == 40);

class AsyncSource {
 public:
  virtual ~AsyncSource() = default;

  // Returns true if next() has an item. `wants_array` is true if the consumer has requested more arrays than there are.
  virtual bool has_next(bool wants_array) noexcept = 0;

  // Returns the next item, in the order of the protocol. The stream's lock is not held.
  virtual Item next() noexcept = 0;

  // Notes that a task was passed to the consumer.
  virtual void handed_out() noexcept {}

  // Notes that the consumer wants no more arrays. Any thread may call this.
  virtual void cancel() noexcept = 0;

  // Closes the source before the handler's release. No other call follows.
  virtual void close() noexcept = 0;
};

// A producer lives as long as it works or has a task that is neither extracted nor discarded. Until then the consumer
// may call its ArrowAsyncProducer.
class AsyncProducer : public std::enable_shared_from_this<AsyncProducer> {
 public:
  // Creates a producer. `device_type` is the type of the arrays' device. The consumer owns the handler until its
  // release.
  AsyncProducer(ArrowDeviceType device_type, ArrowAsyncDeviceStreamHandler& handler,
                std::unique_ptr<AsyncSource> source, std::unique_ptr<Executor> executor);
  AsyncProducer(const AsyncProducer&) = delete;
  AsyncProducer& operator=(const AsyncProducer&) = delete;

  // Starts the stream. Fails with the executor's code; then no callback was called and none will be.
  int start() noexcept;

  // Notes that the source has something new.
  void wake() noexcept;

 private:
  struct TaskData;
  using Lock = std::unique_lock<std::mutex>;

  static AsyncProducer& of(ArrowAsyncProducer* producer) noexcept;
  static void request(ArrowAsyncProducer* self, int64_t n) noexcept;
  static void cancel(ArrowAsyncProducer* self) noexcept;
  static int extract(ArrowAsyncTask* task, ArrowDeviceArray* out) noexcept;
  static void run_task(void* producer) noexcept;

  void schedule(Lock& lock) noexcept;
  void run() noexcept;
  bool has_work() noexcept;
  void arrived(std::list<Item>& item) noexcept;
  std::optional<int> take(AsyncState::Step step, Lock& lock) noexcept;
  int tell_schema(Lock& lock) noexcept;
  std::optional<int> tell_task(Lock& lock) noexcept;
  int tell_end(Lock& lock) noexcept;
  void tell_error(Lock& lock) noexcept;
  void release_handler(Lock& lock) noexcept;

  ArrowAsyncDeviceStreamHandler& handler_;
  const std::unique_ptr<AsyncSource> source_;
  const std::unique_ptr<Executor> executor_;
  OwnProducer published_;
  Metadata additional_metadata_;  // the consumer may read it as long as this object lives

  std::mutex mutex_;  // guards all members below; unlocked during calls of the handler or the source
  AsyncState state_;
  std::list<Item> items_;                      // arrived and not reported yet
  std::shared_ptr<AsyncProducer> keep_alive_;  // until the release
  bool is_scheduled_ = false;                  // a task of the executor runs or will run
  TaskData* pending_task_ = nullptr;           // the task in on_next_task, until it is extracted
};

}  // namespace arrowdevice::stream
