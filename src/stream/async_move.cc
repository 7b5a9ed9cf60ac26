// SPDX-License-Identifier: Apache-2.0
// The piece in between: a consumer of one producer, and the producer of another consumer, with a device between them.
#include <atomic>
#include <cerrno>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/background.h"
#include "base/error.h"
#include "schema/copy.h"
#include "schema/tree.h"
#include "stream/async.h"
#include "stream/async_consumer.h"
#include "stream/async_producer.h"
#include "transfer/move.h"

namespace arrowdevice::stream {
namespace {

// What came from upstream, in its order, until the executor gets to it.
struct Arrival {
  enum class Kind { kSchema, kTask, kEnd, kError, kGone };

  Kind kind;
  ArrowSchema schema{};
  ArrowAsyncTask task{};
  Metadata metadata = {};
  Failure failure = {};
};

// Between the handler that upstream calls and the producer that calls downstream, which end in any order.
class Passage final : public AsyncConsumer {
 public:
  Passage(device::Device& to, const AsyncOptions& options)
      : to_(to),
        use_(to),
        options_(options.copy),
        queue_(options.queue),
        depth_(options.depth),
        layout_(options.upstream_layout) {
    options_.queue = queue_.get();
    options_.async = true;
    if (queue_ != nullptr) queue_use_.emplace(queue_->device());
  }
  ~Passage() override {
    if (schema_.release != nullptr) schema_.release(&schema_);
    for (auto& arrival : arrivals_) drop(arrival);
  }

  // Throws EINVAL for options that cannot serve arrays on that type of device; 0: it is not known yet.
  void check_queue_and_pool(ArrowDeviceType source) const { transfer::check_queue_and_pool(options_, source, to_); }

  // Each holds the other until downstream is released.
  void set_downstream(std::shared_ptr<AsyncProducer> producer) noexcept { downstream_ = std::move(producer); }

  // -- upstream's side

  void on_schema(ArrowSchema schema, ArrowAsyncProducer* producer) override {
    Arrival arrival{Arrival::Kind::kSchema};
    arrival.schema = schema;
    try {
      if (producer == nullptr) throw Error(EINVAL, "the handler has no producer");
      upstream_.attach(producer);
      if (is_closed()) throw Error(ECANCELED, "the stream was cancelled");
      arrival.metadata = upstream_.additional_metadata(layout_);
      arrived(arrival);
    } catch (...) {
      drop(arrival);
      throw;
    }
    upstream_.request(depth_);
  }

  void on_task(const ArrowAsyncTask& task, const char* metadata) override {
    Arrival arrival{Arrival::Kind::kTask};
    arrival.task = task;
    arrival.metadata = copy_metadata(metadata);
    arrived(arrival);
  }

  void on_end(const char* metadata) override {
    upstream_.detach();
    Arrival arrival{Arrival::Kind::kEnd};
    arrival.metadata = copy_metadata(metadata);
    arrived(arrival);
  }

  void on_error(int code, const char* text, const char* metadata) noexcept override {
    upstream_.detach();
    Arrival arrival{Arrival::Kind::kError};
    arrival.failure = Failure(code, text != nullptr ? text : "");
    try {
      arrival.metadata = copy_metadata(metadata);
    } catch (...) {
      arrival.metadata.reset();  // the code counts
    }
    arrived_or_gone(arrival);
  }

  void on_release() noexcept override {
    upstream_.detach();
    Arrival arrival{Arrival::Kind::kGone};
    arrived_or_gone(arrival);
  }

  // -- downstream's side, on the executor

  bool has_next() noexcept {
    const std::lock_guard lock(mutex_);
    return !is_closed_ && !has_ended_ && (!arrivals_.empty() || is_lost_);
  }

  Item next() noexcept {
    std::optional<Arrival> arrival;
    {
      const std::lock_guard lock(mutex_);
      if (arrivals_.empty()) {
        has_ended_ = true;
        return Item(Failure(ENOMEM, "host memory is exhausted"));
      }
      arrival.emplace(std::move(arrivals_.front()));
      arrivals_.pop_front();
    }
    try {
      return item_of(*arrival);
    } catch (...) {
      has_ended_ = true;
      upstream_.cancel();
      return Item(Failure::current());
    }
  }

  void handed_out() noexcept { upstream_.request(1); }
  void cancel() noexcept { upstream_.cancel(); }

  void close() noexcept {
    std::list<Arrival> dropped;
    std::shared_ptr<AsyncProducer> downstream;  // which is at work, and goes later
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
      dropped.swap(arrivals_);
      downstream.swap(downstream_);
    }
    if (!has_ended_) upstream_.cancel();
    for (auto& arrival : dropped) drop(arrival);  // after the cancel: they keep the producer
  }

 private:
  static void drop(Arrival& arrival) noexcept {
    if (arrival.schema.release != nullptr) arrival.schema.release(&arrival.schema);
    if (arrival.task.extract_data != nullptr) discard(arrival.task);
    arrival.schema.release = nullptr;
    arrival.task.extract_data = nullptr;
  }

  bool is_closed() {
    const std::lock_guard lock(mutex_);
    return is_closed_;
  }

  void arrived(Arrival& arrival) {
    std::shared_ptr<AsyncProducer> downstream;
    {
      const std::lock_guard lock(mutex_);
      downstream = downstream_;
      // After a loss nothing comes but the release, which is not what ended the stream.
      if (!is_closed_ && !is_lost_) arrivals_.push_back(std::move(arrival));
    }
    if (downstream != nullptr) {
      downstream->wake();
    } else {
      drop(arrival);
    }
  }

  // Of what cannot be refused: where there is no room for it, that is the failure.
  void arrived_or_gone(Arrival& arrival) noexcept {
    try {
      arrived(arrival);
    } catch (...) {
      std::shared_ptr<AsyncProducer> downstream;
      {
        const std::lock_guard lock(mutex_);
        is_lost_ = true;
        downstream = downstream_;
      }
      if (downstream != nullptr) downstream->wake();
    }
  }

  Item item_of(Arrival& arrival) {
    switch (arrival.kind) {
      case Arrival::Kind::kSchema: return schema_item(arrival);
      case Arrival::Kind::kTask: return array_item(arrival);
      case Arrival::Kind::kEnd: {
        has_ended_ = true;
        Item item(Item::Kind::kEnd);
        item.metadata = std::move(arrival.metadata);
        return item;
      }
      case Arrival::Kind::kError: {
        has_ended_ = true;
        Item item(std::move(arrival.failure));
        item.metadata = std::move(arrival.metadata);
        return item;
      }
      case Arrival::Kind::kGone: break;
    }
    has_ended_ = true;
    if (!tree_.has_value()) return Item(Item::Kind::kAbort);  // it was never begun
    return Item(Failure(EIO, "the producer has let go of the stream before its end"));
  }

  Item schema_item(Arrival& arrival) {
    schema_ = std::exchange(arrival.schema, {});
    check_queue_and_pool(upstream_.device_type());
    tree_.emplace(schema_);
    Item item(Item::Kind::kSchema);
    schema::copy(schema_, &item.schema);
    item.metadata = std::move(arrival.metadata);
    return item;
  }

  Item array_item(Arrival& arrival) {
    Item item(Item::Kind::kArray);
    auto task = std::exchange(arrival.task, {});
    ArrowDeviceArray array = extract(task);
    try {
      const background::DriverCallGuard busy;
      if (!busy.is_allowed()) throw Error(ECANCELED, "exit has begun");
      if (!tree_.has_value()) throw Error(EINVAL, "an array came before the schema");
      transfer::to_device(array, *tree_, to_, options_, &item.array);
    } catch (...) {
      array.array.release(&array.array);
      throw;
    }
    item.metadata = std::move(arrival.metadata);
    return item;
  }

  device::Device& to_;
  const device::DeviceUse use_;
  std::optional<device::DeviceUse> queue_use_;  // outlives the queue
  transfer::CopyOptions options_;
  const std::shared_ptr<device::Queue> queue_;
  const int32_t depth_;
  const int32_t layout_;
  ForeignProducer upstream_;

  // Of the executor's thread.
  ArrowSchema schema_{};
  std::optional<schema::Tree> tree_;

  std::mutex mutex_;                           // guards all below
  std::shared_ptr<AsyncProducer> downstream_;  // NULL once it is released
  std::list<Arrival> arrivals_;
  std::atomic<bool> has_ended_{false};  // written by the executor's thread
  bool is_closed_ = false;
  bool is_lost_ = false;
};

class PassageSource final : public AsyncSource {
 public:
  explicit PassageSource(std::shared_ptr<Passage> passage) : passage_(std::move(passage)) {}

  bool has_next(bool) noexcept override { return passage_->has_next(); }
  Item next() noexcept override { return passage_->next(); }
  void handed_out() noexcept override { passage_->handed_out(); }
  void cancel() noexcept override { passage_->cancel(); }
  void close() noexcept override { passage_->close(); }

 private:
  std::shared_ptr<Passage> passage_;
};

}  // namespace

ArrowAsyncDeviceStreamHandler* to_device(ArrowAsyncDeviceStreamHandler& downstream, device::Device& to,
                                         AsyncOptions options) {
  to.check_usable();
  const auto passage = std::make_shared<Passage>(to, options);
  constexpr ArrowDeviceType kUnknown = 0;
  passage->check_queue_and_pool(kUnknown);
  const auto producer = std::make_shared<AsyncProducer>(to.type(), downstream, std::make_unique<PassageSource>(passage),
                                                        std::move(options.executor));
  auto* const handler = make_handler(passage);
  passage->set_downstream(producer);
  return handler;
}

}  // namespace arrowdevice::stream
