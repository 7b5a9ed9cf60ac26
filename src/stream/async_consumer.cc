// SPDX-License-Identifier: Apache-2.0
#include "stream/async_consumer.h"

#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace arrowdevice::stream {
namespace {

// The layout of the published text, which no header has: it cannot be told from the shipped one.
struct PublishedProducer {
  ArrowDeviceType device_type;
  void (*request)(ArrowAsyncProducer*, int64_t);
  void (*cancel)(ArrowAsyncProducer*);
  void (*release)(ArrowAsyncProducer*);
  const char* additional_metadata;
  void* private_data;
};
static_assert(sizeof(PublishedProducer) == 48 && sizeof(ArrowAsyncProducer) == 40);

struct Handler {
  ArrowAsyncDeviceStreamHandler published{};
  std::shared_ptr<AsyncConsumer> consumer;

  static AsyncConsumer& of(ArrowAsyncDeviceStreamHandler* self) noexcept {
    return *static_cast<Handler*>(self->private_data)->consumer;
  }

  // A producer that is refused something lets go of the handler, without a word: why is known here only.
  template <typename Body>
  static int told(ArrowAsyncDeviceStreamHandler* self, Body&& body) noexcept {
    arrowdevice_error error{};
    const int code = guarded(&error, body);
    if (code != 0) of(self).on_error(code, error.message, nullptr);
    return code;
  }

  static int on_schema(ArrowAsyncDeviceStreamHandler* self, ArrowSchema* schema) noexcept {
    return told(self, [&] {
      if (schema == nullptr || schema->release == nullptr) throw Error(EINVAL, "the schema is released");
      const ArrowSchema moved = *schema;
      schema->release = nullptr;
      of(self).on_schema(moved, self->producer);
    });
  }

  static int on_next_task(ArrowAsyncDeviceStreamHandler* self, ArrowAsyncTask* task, const char* metadata) noexcept {
    return told(self, [&] {
      if (task == nullptr) {
        of(self).on_end(metadata);
      } else {
        of(self).on_task(*task, metadata);
      }
    });
  }

  static void on_error(ArrowAsyncDeviceStreamHandler* self, int code, const char* text, const char* metadata) noexcept {
    of(self).on_error(code != 0 ? code : EIO, text, metadata);
  }

  static void release(ArrowAsyncDeviceStreamHandler* self) noexcept {
    const std::unique_ptr<Handler> handler(static_cast<Handler*>(self->private_data));
    self->release = nullptr;
    handler->consumer->on_release();
  }
};

}  // namespace

void ForeignProducer::attach(ArrowAsyncProducer* producer) noexcept {
  const std::lock_guard lock(mutex_);
  producer_ = producer;
  device_type_ = producer->device_type;
}

void ForeignProducer::detach() noexcept {
  const std::lock_guard lock(mutex_);
  producer_ = nullptr;
}

void ForeignProducer::request(int64_t n) noexcept {
  const std::lock_guard lock(mutex_);
  if (producer_ != nullptr) producer_->request(producer_, n);
}

void ForeignProducer::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  auto* const cancelled = std::exchange(producer_, nullptr);
  if (cancelled != nullptr) cancelled->cancel(cancelled);
}

Metadata ForeignProducer::additional_metadata(int32_t layout) const {
  const std::lock_guard lock(mutex_);
  if (producer_ == nullptr || layout == ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN) return std::nullopt;
  if (layout == ARROWDEVICE_ASYNC_LAYOUT_40_BYTES) return copy_metadata(producer_->additional_metadata);
  return copy_metadata(reinterpret_cast<const PublishedProducer*>(producer_)->additional_metadata);
}

ArrowAsyncDeviceStreamHandler* make_handler(std::shared_ptr<AsyncConsumer> consumer) {
  auto handler = std::make_unique<Handler>();
  handler->consumer = std::move(consumer);
  auto& published = handler->published;
  published.on_schema = Handler::on_schema;
  published.on_next_task = Handler::on_next_task;
  published.on_error = Handler::on_error;
  published.release = Handler::release;
  published.private_data = handler.get();
  return &handler.release()->published;
}

ArrowDeviceArray extract(ArrowAsyncTask& task) {
  ArrowDeviceArray array{};
  const int code = task.extract_data(&task, &array);
  if (code != 0) throw Error(code, format("extract_data of a task failed with errno %d", code));
  if (array.array.release == nullptr) throw Error(EINVAL, "extract_data of a task gave a released array");
  return array;
}

void discard(ArrowAsyncTask& task) noexcept {
  ArrowDeviceArray array{};
  if (task.extract_data(&task, &array) == 0 && array.array.release != nullptr) array.array.release(&array.array);
}

}  // namespace arrowdevice::stream
