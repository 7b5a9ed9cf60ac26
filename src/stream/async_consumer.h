// SPDX-License-Identifier: Apache-2.0
// Handlers that the library creates for foreign producers.
#pragma once

#include <arrowdevice/abi.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/condition_variable.h"
#include "base/error.h"
#include "stream/async_producer.h"

namespace arrowdevice::stream {

// A foreign producer, and the number of arrays that it owes. The library calls the producer until the library cancels
// it, or the producer reports the end or an error, or releases its handler. By the format the producer lives until the
// release. Arrow C++ frees its producer after a cancel or the end, unless a task of it is left. The library reads no
// member behind `cancel` but the metadata, in the layout that the program names.
//
// No lock is held during a call, because the producer may hold a lock of its own around each call of the handler. The
// lifetime rests on these rules instead:
//  - Arrays are requested within the producer's own callback, or by a thread that holds a task.
//  - A last callback waits for other threads that are inside the producer. This wait is short, because such a thread
//    may itself wait for a lock that the callback's thread holds.
class ForeignProducer {
 public:
  void attach(ArrowAsyncProducer* producer) noexcept;

  // Detaches the producer within a last callback: no call begins after this.
  void detach() noexcept;

  ArrowDeviceType device_type() const noexcept { return device_type_; }

  // Requests the first arrays, within on_schema.
  void start(int64_t n) noexcept;

  // Counts an arrival within on_next_task, before other threads see the task. The array is no longer owed.
  void came() noexcept;

  // Requests as many arrays as were taken meanwhile, within on_next_task, after other threads see the task.
  void request_taken() noexcept;

  // Allows one more array because an array was taken. If no array is on its way, no callback would request it. This
  // call then requests it if the calling thread holds a task.
  void taken(bool has_task) noexcept;

  // Returns true if an array is on its way or can be requested.
  bool owes() const noexcept;

  // Makes sure that an array is on its way, before the last task is extracted. Returns true if none was and no array
  // had been taken. The caller must then omit one call of taken().
  bool ensure_owing() noexcept;

  // Cancels the producer, at most once.
  void cancel() noexcept;

  // Returns the producer's metadata, within on_schema. `layout` is one of ARROWDEVICE_ASYNC_LAYOUT_*.
  Metadata additional_metadata(int32_t layout) const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  class Call;

  void request(Lock& lock) noexcept;

  mutable std::mutex mutex_;  // guards all members below but the type; unlocked during calls of the producer
  ConditionVariable left_;
  ArrowAsyncProducer* producer_ = nullptr;
  ArrowDeviceType device_type_ = 0;
  int calls_ = 0;       // threads inside the producer
  int64_t owed_ = 0;    // requested, and not arrived
  int64_t credit_ = 0;  // may be requested
};

// Behaviour of a handler. Calls come in sequence, from any thread, until on_release().
class AsyncConsumer {
 public:
  virtual ~AsyncConsumer() = default;

  // Handles the schema, and must release it. An exception of these functions ends the stream. A task whose on_task()
  // throws was not stored.
  virtual void on_schema(ArrowSchema schema, ArrowAsyncProducer* producer) = 0;
  virtual void on_task(const ArrowAsyncTask& task, const char* metadata) = 0;
  virtual void on_end(const char* metadata) = 0;
  virtual void on_error(int code, const char* text, const char* metadata) noexcept = 0;
  virtual void on_release() noexcept = 0;

  virtual void cancel_producer() noexcept = 0;
};

// Returns a handler that destroys itself in its release, and drops the consumer then.
ArrowAsyncDeviceStreamHandler* make_handler(std::shared_ptr<AsyncConsumer> consumer);

// Reports that the extraction of a task has failed. The producer should call on_error with the reason.
class ExtractionError : public Error {
 public:
  explicit ExtractionError(int code) : Error(code, format("extract_data of a task failed with errno %d", code)) {}
};

// The time that a failed extraction waits for the producer's on_error.
inline constexpr auto kErrorPatience = std::chrono::seconds(1);

// Extracts the data of a task, in canonical form. Always extracts into a struct, because not all producers can discard.
ArrowDeviceArray extract(ArrowAsyncTask& task);
void discard(ArrowAsyncTask& task) noexcept;

}  // namespace arrowdevice::stream
