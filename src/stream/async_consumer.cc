// SPDX-License-Identifier: Apache-2.0
#include "stream/async_consumer.h"

#include <arrowdevice/arrowdevice.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "array/locate.h"
#include "base/error.h"

namespace arrowdevice::stream {
namespace {

// The time that a last callback waits for threads that are inside the producer.
constexpr auto kCallPatience = std::chrono::milliseconds(100);

// The layout of the published text. No header has it, and the library cannot tell it from the shipped layout.
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

  // Reports a failure of a callback. A producer whose callback fails releases the handler and reports no error, so only
  // this side knows the reason.
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
    if (task == nullptr) return told(self, [&] { of(self).on_end(metadata); });
    ArrowAsyncTask taken = *task;
    arrowdevice_error error{};
    const int code = guarded(&error, [&] { of(self).on_task(taken, metadata); });
    if (code == 0) return 0;
    // Some producers free a refused task, and others wait for its extraction. Accepting the task, discarding it and
    // cancelling the producer is right for both.
    of(self).cancel_producer();
    of(self).on_error(code, error.message, nullptr);
    discard(taken);
    return 0;
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

// Marks a call of this thread into a producer. If a producer calls back within such a call, against the rules, the
// callback must not wait for the call.
class ForeignProducer::Call {
 public:
  // Needs the lock, which is unlocked until the end of the call.
  Call(ForeignProducer& producer, Lock& lock) noexcept : producer_(producer), lock_(lock), outer_(innermost_) {
    innermost_ = this;
    ++producer_.calls_;
    lock_.unlock();
  }
  ~Call() {
    lock_.lock();
    innermost_ = outer_;
    --producer_.calls_;
    producer_.left_.notify_all();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Counts the calls of this thread in one producer.
  static int count(const ForeignProducer& producer) noexcept {
    int n = 0;
    for (const Call* call = innermost_; call != nullptr; call = call->outer_) n += &call->producer_ == &producer;
    return n;
  }

 private:
  static inline thread_local Call* innermost_ = nullptr;

  ForeignProducer& producer_;
  Lock& lock_;
  Call* const outer_;
};

void ForeignProducer::attach(ArrowAsyncProducer* producer) noexcept {
  const Lock lock(mutex_);
  producer_ = producer;
  device_type_ = producer->device_type;
}

void ForeignProducer::detach() noexcept {
  Lock lock(mutex_);
  producer_ = nullptr;
  const int own = Call::count(*this);
  left_.wait_for(lock, kCallPatience, [&] { return calls_ == own; });
}

void ForeignProducer::start(int64_t n) noexcept {
  Lock lock(mutex_);
  credit_ += n;
  request(lock);
}

void ForeignProducer::came() noexcept {
  const Lock lock(mutex_);
  owed_ = std::max<int64_t>(owed_ - 1, 0);
}

void ForeignProducer::request_taken() noexcept {
  Lock lock(mutex_);
  request(lock);
}

void ForeignProducer::taken(bool has_task) noexcept {
  Lock lock(mutex_);
  ++credit_;
  if (has_task && owed_ == 0) request(lock);
}

bool ForeignProducer::owes() const noexcept {
  const Lock lock(mutex_);
  return owed_ + credit_ > 0;
}

bool ForeignProducer::ensure_owing() noexcept {
  Lock lock(mutex_);
  if (owed_ > 0) return false;
  const bool is_early = credit_ == 0;
  credit_ += is_early;
  request(lock);
  return is_early;
}

// Requests all arrays that may be requested. Needs the lock, which is unlocked during the call.
void ForeignProducer::request(Lock& lock) noexcept {
  auto* const producer = producer_;
  if (producer == nullptr || credit_ == 0) return;
  const int64_t n = std::exchange(credit_, 0);
  owed_ += n;
  const Call call(*this, lock);
  producer->request(producer, n);
}

void ForeignProducer::cancel() noexcept {
  Lock lock(mutex_);
  auto* const cancelled = std::exchange(producer_, nullptr);
  if (cancelled == nullptr) return;
  const Call call(*this, lock);
  cancelled->cancel(cancelled);
}

Metadata ForeignProducer::additional_metadata(int32_t layout) const {
  const ArrowAsyncProducer* producer = nullptr;
  {
    const Lock lock(mutex_);
    producer = producer_;
  }
  if (producer == nullptr || layout == ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN) return std::nullopt;
  if (layout == ARROWDEVICE_ASYNC_LAYOUT_40_BYTES) return copy_metadata(producer->additional_metadata);
  return copy_metadata(reinterpret_cast<const PublishedProducer*>(producer)->additional_metadata);
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
  if (code != 0) throw ExtractionError(code);
  if (array.array.release == nullptr) throw Error(EINVAL, "extract_data of a task gave a released array");
  try {
    array::check_event(array);
  } catch (...) {
    array.array.release(&array.array);
    throw;
  }
  array::make_canonical(array);
  return array;
}

void discard(ArrowAsyncTask& task) noexcept {
  ArrowDeviceArray array{};
  if (task.extract_data(&task, &array) == 0 && array.array.release != nullptr) array.array.release(&array.array);
}

}  // namespace arrowdevice::stream
