// SPDX-License-Identifier: Apache-2.0
// Calls a consumer's handler by the rules of the async interface: with what a source gives, as fast as the consumer
// asks for it, from one task of an executor at a time.
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
#include "stream/executor.h"

namespace arrowdevice::stream {

// Encoded like ArrowSchema.metadata.
using Metadata = std::optional<std::string>;

// A copy of what a callback was given; NULL: none. Throws EINVAL for what is malformed.
Metadata copy_metadata(const char* encoded);

// One thing that a source gives. Releases what is not taken out.
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
  Metadata metadata;  // of the callback; with the schema, that of the producer
  Failure failure;
};

// An ArrowAsyncProducer of the library, which is right in both layouts of the format: the shipped one of 40 bytes, and
// the one of the published text, whose 48 bytes have a `release` before the metadata. The metadata is where either has
// it. `release` is never called by a consumer, and `private_data` is none of its business, so that the owner is found
// by the address of the struct.
struct OwnProducer {
  ArrowAsyncProducer shipped{};        // whose private_data is the additional_metadata of the text
  void* const private_data = nullptr;  // of the text
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

  // Whether next() has something to give; `wants_array`: the consumer has asked for more than there is.
  virtual bool has_next(bool wants_array) noexcept = 0;

  // In the order of the protocol. The lock of the stream is not held.
  virtual Item next() noexcept = 0;

  // A task was handed to the consumer.
  virtual void handed_out() noexcept {}

  // The consumer does not want more; from any thread.
  virtual void cancel() noexcept = 0;

  // Nothing is asked any more. Before the handler's release.
  virtual void close() noexcept = 0;
};

// Alive as long as it is at work, or a task of it is neither extracted nor discarded: until then its ArrowAsyncProducer
// may be called.
class AsyncProducer : public std::enable_shared_from_this<AsyncProducer> {
 public:
  // `device_type` is that of the arrays. The handler is the consumer's, until its release.
  AsyncProducer(ArrowDeviceType device_type, ArrowAsyncDeviceStreamHandler& handler,
                std::unique_ptr<AsyncSource> source, std::unique_ptr<Executor> executor);
  AsyncProducer(const AsyncProducer&) = delete;
  AsyncProducer& operator=(const AsyncProducer&) = delete;

  // Begins. On failure, with the executor's code, no callback was made and none will be.
  int start() noexcept;

  // The source has something new.
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
  Metadata additional_metadata_;  // which the consumer may look at as long as this is there

  std::mutex mutex_;  // guards all below; open while the handler or the source is called
  AsyncState state_;
  std::list<Item> items_;                      // arrived and not told yet
  std::shared_ptr<AsyncProducer> keep_alive_;  // until the release
  bool is_scheduled_ = false;                  // a task of the executor runs or will run
  TaskData* pending_task_ = nullptr;           // the task in on_next_task, until it is extracted
};

}  // namespace arrowdevice::stream
