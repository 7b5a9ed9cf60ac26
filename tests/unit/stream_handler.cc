// SPDX-License-Identifier: Apache-2.0
#include "stream_handler.h"

#include <chrono>

namespace stream_test {

// -- the consumer

struct Consumer::Callbacks {
  struct Handler {
    ArrowAsyncDeviceStreamHandler published{};
    std::shared_ptr<Consumer> consumer;
  };

  static Consumer& of(ArrowAsyncDeviceStreamHandler* self) {
    return *static_cast<Handler*>(self->private_data)->consumer;
  }

  // Marks that a callback is running.
  struct Inside {
    explicit Inside(Consumer& within) : consumer(within) {
      if (consumer.inside_.exchange(true)) consumer.overlapped = true;
    }
    ~Inside() { consumer.inside_ = false; }
    Consumer& consumer;
  };

  static int on_schema(ArrowAsyncDeviceStreamHandler* self, ArrowSchema* schema) {
    enter_callback("on_schema of a handler");
    auto& consumer = of(self);
    const Inside inside(consumer);
    consumer.schema = Owned<ArrowSchema>(*schema);
    schema->release = nullptr;
    consumer.producer = self->producer;
    consumer.device_type = self->producer->device_type;
    consumer.additional_metadata = metadata_bytes(self->producer->additional_metadata);
    consumer.note('S');
    return consumer.on_schema(consumer);
  }

  static int on_next_task(ArrowAsyncDeviceStreamHandler* self, ArrowAsyncTask* task, const char* metadata) {
    enter_callback("on_next_task of a handler");
    auto& consumer = of(self);
    const Inside inside(consumer);
    if (task == nullptr) {
      consumer.last_metadata = metadata_bytes(metadata);
      consumer.note('E');
      return 0;
    }
    consumer.metadata.push_back(metadata_bytes(metadata));
    const int code = consumer.on_task(consumer, task);
    consumer.note('T');
    return code;
  }

  static void on_error(ArrowAsyncDeviceStreamHandler* self, int code, const char* text, const char* metadata) {
    enter_callback("on_error of a handler");
    auto& consumer = of(self);
    const Inside inside(consumer);
    consumer.code = code;
    consumer.text = text != nullptr ? text : "";
    consumer.last_metadata = metadata_bytes(metadata);
    consumer.note('X');
  }

  static void release(ArrowAsyncDeviceStreamHandler* self) {
    enter_callback("release of a handler");
    const std::unique_ptr<Handler> handler(static_cast<Handler*>(self->private_data));
    { const Inside inside(*handler->consumer); }
    handler->consumer->note('R');
  }
};

void Consumer::note(char call) {
  const std::lock_guard lock(mutex_);
  calls_ += call;
  pending_task_ += call == 'T';
  changed_.notify_all();
}

std::string Consumer::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

int Consumer::keep_data(ArrowAsyncTask* task) {
  Array array;
  const int failed = task->extract_data(task, array.out());
  if (failed == 0) arrays.push_back(std::move(array));
  return failed;
}

void Consumer::wait_for_release() {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return !calls_.empty() && calls_.back() == 'R'; }));
}

void Consumer::wait_for_tasks(int64_t n) {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return pending_task_ >= n; }));
}

ArrowAsyncDeviceStreamHandler* handler_of(std::shared_ptr<Consumer> consumer) {
  auto* const handler = new Consumer::Callbacks::Handler;
  handler->consumer = std::move(consumer);
  auto& published = handler->published;
  published.on_schema = Consumer::Callbacks::on_schema;
  published.on_next_task = Consumer::Callbacks::on_next_task;
  published.on_error = Consumer::Callbacks::on_error;
  published.release = Consumer::Callbacks::release;
  published.private_data = handler;
  return &published;
}

// -- the producer

struct Hand::Data {
  Hand* hand;
  Array array;
  int code;
};

Hand::Hand(ArrowAsyncDeviceStreamHandler* handler, ArrowDeviceType type) : handler_(handler) {
  producer_.device_type = type;
  producer_.private_data = this;
  producer_.request = [](ArrowAsyncProducer* self, int64_t n) {
    enter_callback("request of a producer");
    static_cast<Hand*>(self->private_data)->requested_ += n;
  };
  producer_.cancel = [](ArrowAsyncProducer* self) {
    enter_callback("cancel of a producer");
    ++static_cast<Hand*>(self->private_data)->cancels_;
  };
}

Hand::~Hand() { release(); }

int Hand::schema(const Field& type) {
  auto schema = make_schema(type);
  handler_->producer = &producer_;
  const int code = handler_->on_schema(handler_, schema.get());
  CHECK(schema.released());
  return code;
}

int Hand::task(Array array, const char* metadata, int code) {
  ++live_tasks_;
  auto* const data = new Data{this, std::move(array), code};
  ArrowAsyncTask task;
  task.private_data = data;
  task.extract_data = [](ArrowAsyncTask* self, ArrowDeviceArray* out) {
    enter_callback("extract_data of a task");
    const std::unique_ptr<Data> extracted(static_cast<Data*>(self->private_data));
    --extracted->hand->live_tasks_;
    if (extracted->code != 0) {
      extracted->hand->at_failed_extraction();
      return extracted->code;
    }
    *out = extracted->array.take();  // this producer does not handle a NULL `out`
    return 0;
  };
  return handler_->on_next_task(handler_, &task, metadata);
}

int Hand::end(const char* metadata) { return handler_->on_next_task(handler_, nullptr, metadata); }

void Hand::error(int code, const char* text, const char* metadata) {
  handler_->on_error(handler_, code, text, metadata);
}

void Hand::release() {
  if (handler_ == nullptr) return;
  handler_->release(handler_);
  handler_ = nullptr;
}

arrowdevice_async_options async_options(int32_t depth) {
  auto options = sized<arrowdevice_async_options>();
  options.depth = depth;
  return options;
}

Collected collect(ArrowDeviceType type, int32_t depth, int32_t layout) {
  Collected made;
  auto options = async_options(depth);
  options.upstream_layout = layout;
  must(arrowdevice_async_collect, type, &options, &made.handler, made.stream.out());
  CHECK(made.stream->device_type == type);
  return made;
}

}  // namespace stream_test
