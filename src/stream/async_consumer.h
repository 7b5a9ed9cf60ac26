// SPDX-License-Identifier: Apache-2.0
// Handlers that the library makes for producers of others.
#pragma once

#include <arrowdevice/abi.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "stream/async_producer.h"

namespace arrowdevice::stream {

// A foreign producer, and the arrays that it owes. It is called until it is cancelled, has told the end or an error, or
// has released its handler. By the format it lives until the release. Arrow C++ frees its producer as soon as that is
// cancelled or has told the end, unless a task of it is left. The library reads nothing of it past `cancel`, except the
// metadata of a layout that the program names.
//
// No lock is held during a call, because the producer may hold a lock of its own around each call of the handler. The
// lifetime rests on these rules instead:
//  - Arrays are requested within the producer's own callback, or by a thread that has a task in hand.
//  - A last callback waits for other threads that are inside the producer. It does not wait for long: such a thread may
//    itself wait for a lock that the callback's thread holds.
class ForeignProducer {
 public:
  void attach(ArrowAsyncProducer* producer) noexcept;

  // Within a last callback: no call begins after this.
  void detach() noexcept;

  ArrowDeviceType device_type() const noexcept { return device_type_; }

  // Within on_schema: requests the first arrays.
  void start(int64_t n) noexcept;

  // Within on_next_task, before others see the task: it is not owed any more.
  void came() noexcept;

  // Within on_next_task, after others see the task: requests as many arrays as were taken meanwhile.
  void request_taken() noexcept;

  // An array was taken, so one more may come. If none is on its way, no callback would pass this on: it is requested
  // here if the calling thread has a task in hand.
  void taken(bool has_task) noexcept;

  // Whether an array is on its way, or can be requested.
  bool owes() const noexcept;

  // Before the last task is extracted: makes sure that an array is on its way. Returns true if that was not the case
  // and no array had been taken. The caller must then leave out one call of taken().
  bool ensure_owing() noexcept;

  // Calls the producer at most once.
  void cancel() noexcept;

  // Within on_schema. `layout` is one of ARROWDEVICE_ASYNC_LAYOUT_*.
  Metadata additional_metadata(int32_t layout) const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  class Call;

  void request(Lock& lock) noexcept;

  mutable std::mutex mutex_;  // guards all below but the type; open while the producer is called
  std::condition_variable left_;
  ArrowAsyncProducer* producer_ = nullptr;
  ArrowDeviceType device_type_ = 0;
  int calls_ = 0;       // threads inside the producer
  int64_t owed_ = 0;    // requested, and not come
  int64_t credit_ = 0;  // may be requested
};

// What a handler does. Called one at a time, from any thread, until on_release().
class AsyncConsumer {
 public:
  virtual ~AsyncConsumer() = default;

  // The schema is this function's to release. Whatever these throw ends the stream. A task whose on_task() throws was
  // not kept.
  virtual void on_schema(ArrowSchema schema, ArrowAsyncProducer* producer) = 0;
  virtual void on_task(const ArrowAsyncTask& task, const char* metadata) = 0;
  virtual void on_end(const char* metadata) = 0;
  virtual void on_error(int code, const char* text, const char* metadata) noexcept = 0;
  virtual void on_release() noexcept = 0;

  virtual void cancel_producer() noexcept = 0;
};

// Gone with its release, and lets the consumer go then.
ArrowAsyncDeviceStreamHandler* make_handler(std::shared_ptr<AsyncConsumer> consumer);

// The extraction of a task has failed. The producer should call on_error, which says why.
class ExtractionError : public Error {
 public:
  explicit ExtractionError(int code) : Error(code, format("extract_data of a task failed with errno %d", code)) {}
};

// How long an extraction that failed waits for the producer's on_error.
inline constexpr auto kErrorPatience = std::chrono::seconds(1);

// Extracts the data of a task, in canonical form. Always extracts into a struct, because not all producers can discard.
ArrowDeviceArray extract(ArrowAsyncTask& task);
void discard(ArrowAsyncTask& task) noexcept;

}  // namespace arrowdevice::stream
