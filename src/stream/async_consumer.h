// SPDX-License-Identifier: Apache-2.0
// Handlers that the library makes for producers of others.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "stream/async_producer.h"

namespace arrowdevice::stream {

// A foreign producer's side: asked from any thread, until it is cancelled, has told the end or an error, or has
// released its handler. By the rules it lives until the release; that of Arrow C++ goes as soon as it is cancelled or
// has nothing more to tell, unless a task of it is left. Nothing of it is looked at past `cancel`, but for the metadata
// of a layout that the program names.
class ForeignProducer {
 public:
  void attach(ArrowAsyncProducer* producer) noexcept;
  void detach() noexcept;

  ArrowDeviceType device_type() const noexcept { return device_type_; }

  void request(int64_t n) noexcept;
  void cancel() noexcept;

  // ARROWDEVICE_ASYNC_LAYOUT_*
  Metadata additional_metadata(int32_t layout) const;

 private:
  // One that calls back from within request() or cancel(), against the rules, finds its own lock.
  mutable std::recursive_mutex mutex_;
  ArrowAsyncProducer* producer_ = nullptr;
  ArrowDeviceType device_type_ = 0;
};

// What a handler does. Called one at a time, from any thread, until on_release().
class AsyncConsumer {
 public:
  virtual ~AsyncConsumer() = default;

  // The schema is this function's to release. Whatever these throw ends the stream.
  virtual void on_schema(ArrowSchema schema, ArrowAsyncProducer* producer) = 0;
  virtual void on_task(const ArrowAsyncTask& task, const char* metadata) = 0;
  virtual void on_end(const char* metadata) = 0;
  virtual void on_error(int code, const char* text, const char* metadata) noexcept = 0;
  virtual void on_release() noexcept = 0;
};

// Gone with its release, and lets the consumer go then.
ArrowAsyncDeviceStreamHandler* make_handler(std::shared_ptr<AsyncConsumer> consumer);

// The data of a task. Throws what it failed with. Always extracts into a struct: not all producers can discard.
ArrowDeviceArray extract(ArrowAsyncTask& task);
void discard(ArrowAsyncTask& task) noexcept;

}  // namespace arrowdevice::stream
