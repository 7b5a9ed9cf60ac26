// SPDX-License-Identifier: Apache-2.0
#include "faults/foreign.h"

#include <chrono>
#include <cstdio>
#include <cstring>

namespace faults {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

// -- streams

struct Source {
  Source(const Rows& rows, int64_t id) : batches(rows, id) {}

  Batches batches;
  int next = 0;

  template <typename Stream>
  static Source& of(Stream* self) {
    return *static_cast<Source*>(self->private_data);
  }

  template <typename Stream>
  static int get_schema(Stream* self, ArrowSchema* out) {
    const memory::Spared spared;
    return arrowdevice_schema_copy(of(self).batches.rows.schema(), out, nullptr);
  }

  static int get_next(ArrowDeviceArrayStream* self, ArrowDeviceArray* out) {
    auto& source = of(self);
    out->array.release = nullptr;
    if (source.next < kBatches) *out = source.batches.arrays[static_cast<size_t>(source.next++)].take();
    return 0;
  }
  static int get_next(ArrowArrayStream* self, ArrowArray* out) {
    auto& source = of(self);
    out->release = nullptr;
    if (source.next < kBatches) *out = source.batches.arrays[static_cast<size_t>(source.next++)].take().array;
    return 0;
  }

  template <typename Stream>
  static const char* get_last_error(Stream*) {
    return nullptr;
  }

  template <typename Stream>
  static void release(Stream* self) {
    delete &of(self);
    self->release = nullptr;
  }
};

template <typename Stream>
Owned<Stream> stream_of(const Rows& rows, int64_t id) {
  Owned<Stream> stream;
  stream->get_schema = &Source::get_schema<Stream>;
  stream->get_next = &Source::get_next;
  stream->get_last_error = &Source::get_last_error<Stream>;
  stream->release = &Source::release<Stream>;
  stream->private_data = new Source(rows, id);
  return stream;
}

// Fills the error. `text` is NULL if the library had no memory for the text.
void fill(arrowdevice_error* error, int code, const char* text) {
  error->code = code;
  error->native_code = 0;
  error->backend[0] = '\0';
  if (text != nullptr) {
    std::snprintf(error->message, sizeof error->message, "%s", text);
  } else {
    std::snprintf(error->message, sizeof error->message, "errno %d, without a text", code);
  }
}

}  // namespace

Batches::Batches(const Rows& of, int64_t id) : rows(of) {
  for (auto& array : arrays) array = rows.on(id);
}

DeviceStream foreign_stream(const Rows& rows, int64_t id) {
  auto stream = stream_of<ArrowDeviceArrayStream>(rows, id);
  stream->device_type = id < 0 ? ARROW_DEVICE_CPU : ARROW_DEVICE_EXT_DEV;
  return stream;
}

HostStream foreign_host_stream(const Rows& rows) { return stream_of<ArrowArrayStream>(rows, -1); }

// -- pulled arrays

Array& Pulled::next_place() {
  check_now(n <= kBatches, "a stream does not end");
  return arrays[static_cast<size_t>(n)];
}

int Pulled::wait(arrowdevice_error* error) {
  for (; waited_ < n; ++waited_) {
    const auto& array = arrays[static_cast<size_t>(waited_)];
    const int code = arrowdevice_array_wait(array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
    if (code == 0) continue;
    has_failed_later = true;
    while (n > waited_) arrays[static_cast<size_t>(--n)].reset();
    return code;
  }
  return 0;
}

int Pulled::pull(ArrowDeviceArrayStream* stream, arrowdevice_error* error) {
  for (;;) {
    auto& place = next_place();
    const int code = arrowdevice_stream_get_next(stream, place.get(), error);
    if (code != 0 || place.released()) return code;
    ++n;
    if (const int later = wait(error); later != 0) return later;
  }
}

int Pulled::pull(ArrowArrayStream* stream, arrowdevice_error* error) {
  for (;; ++n) {
    auto& place = next_place();
    ArrowArray array{};
    const int code = stream->get_next(stream, &array);
    if (code != 0) fill(error, code, stream->get_last_error(stream));
    if (code != 0 || array.release == nullptr) return code;
    check_now(arrowdevice_array_from_host(&array, place.get(), nullptr) == 0, "an array is refused");
  }
}

void Pulled::check_rows(const Rows& rows) {
  for (int i = 0; i < n; ++i) {
    auto& array = arrays[static_cast<size_t>(i)];
    if (on != nullptr) {
      check_equal(array->device_type, output_of(arrowdevice_device_get_info, on).device_type,
                  "the device type of an array");
    }
    check_same(rows.difference(*array));
    array.reset();
  }
}

void Pulled::check_all(const Rows& rows) {
  check_equal(n, kBatches, "arrays of the stream");
  check_rows(rows);
}

// -- the consumer

struct Consumer::Callbacks {
  static Consumer& of(ArrowAsyncDeviceStreamHandler* self) { return *static_cast<Consumer*>(self->private_data); }

  static int on_schema(ArrowAsyncDeviceStreamHandler* self, ArrowSchema* schema) {
    auto& consumer = of(self);
    consumer.note(&Consumer::was_called_);
    consumer.schema_ = Owned<ArrowSchema>(*schema);
    schema->release = nullptr;
    self->producer->request(self->producer, kBatches + 1);
    return 0;
  }

  static int on_next_task(ArrowAsyncDeviceStreamHandler* self, ArrowAsyncTask* task, const char*) {
    auto& consumer = of(self);
    if (task == nullptr) {
      consumer.note(&Consumer::has_ended_);
      return 0;
    }
    auto& pulled = consumer.pulled;
    check_now(pulled.n < kBatches, "more arrays than there are");
    const int code = task->extract_data(task, pulled.arrays[static_cast<size_t>(pulled.n)].get());
    pulled.n += code == 0;
    return code;
  }

  static void on_error(ArrowAsyncDeviceStreamHandler* self, int code, const char* text, const char*) {
    auto& consumer = of(self);
    consumer.note(&Consumer::was_called_);
    consumer.code_ = code;
    if (text != nullptr) std::snprintf(consumer.text_.data(), consumer.text_.size(), "%s", text);
  }

  static void release(ArrowAsyncDeviceStreamHandler* self) {
    self->release = nullptr;
    of(self).note(&Consumer::is_released_);
  }
};

Consumer::Consumer() {
  handler_.on_schema = Callbacks::on_schema;
  handler_.on_next_task = Callbacks::on_next_task;
  handler_.on_error = Callbacks::on_error;
  handler_.release = Callbacks::release;
  handler_.private_data = this;
}

void Consumer::note(bool Consumer::*what) {
  const std::lock_guard lock(mutex_);
  this->*what = true;
  was_called_ = true;
  changed_.notify_all();
}

bool Consumer::was_called() {
  const std::lock_guard lock(mutex_);
  return was_called_;
}

bool Consumer::is_released() {
  const std::lock_guard lock(mutex_);
  return is_released_;
}

int Consumer::wait(arrowdevice_error* error) {
  std::unique_lock lock(mutex_);
  const bool came = changed_.wait_for(lock, kPatience, [this] { return is_released_; });
  check_now(came, "a consumer's handler is never released");
  if (code_ != 0) fill(error, code_, text_[0] != '\0' ? text_.data() : nullptr);
  return code_;
}

bool Consumer::was_dropped() {
  const std::lock_guard lock(mutex_);
  return is_released_ && !has_ended_ && code_ == 0;
}

// -- the producer

Producer::Producer(const Rows& rows, int64_t id) : batches_(rows, id) {
  must(arrowdevice_schema_copy, static_cast<const ArrowSchema*>(rows.schema()), schema_.out());
  producer_.device_type = id < 0 ? ARROW_DEVICE_CPU : ARROW_DEVICE_EXT_DEV;
  producer_.request = [](ArrowAsyncProducer*, int64_t) {};
  producer_.cancel = [](ArrowAsyncProducer*) {};
}

int Producer::tell_task(ArrowAsyncDeviceStreamHandler* handler, Array& array) {
  ArrowAsyncTask task;
  task.private_data = &array;
  task.extract_data = [](ArrowAsyncTask* self, ArrowDeviceArray* out) {
    *out = static_cast<Array*>(self->private_data)->take();
    return 0;
  };
  return handler->on_next_task(handler, &task, nullptr);
}

void Producer::tell(ArrowAsyncDeviceStreamHandler* handler) {
  handler->producer = &producer_;
  int code = handler->on_schema(handler, schema_.get());
  for (auto& array : batches_.arrays) {
    if (code == 0) code = tell_task(handler, array);
  }
  // A single key. Its value needs memory when it is copied.
  constexpr char kMetadata[] = "\1\0\0\0\3\0\0\0why\42\0\0\0the disk is full, and nobody looks";
  if (code == 0 && fails) handler->on_error(handler, kFailure, "the disk is full", kMetadata);
  if (code == 0 && !fails) handler->on_next_task(handler, nullptr, nullptr);
  handler->release(handler);
}

// -- the executor

int Executor::submit(void* self, void (*task)(void*), void* arg) {
  auto& executor = *static_cast<Executor*>(self);
  check_now(executor.task_ == nullptr, "a stream has two tasks");
  executor.task_ = task;
  executor.arg_ = arg;
  return 0;
}

void Executor::run() {
  while (task_ != nullptr) std::exchange(task_, nullptr)(arg_);
}

arrowdevice_async_options Executor::options() {
  arrowdevice_async_options options{};
  options.struct_size = sizeof options;
  options.submit = submit;
  options.user = this;
  return options;
}

}  // namespace faults
