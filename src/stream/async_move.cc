// SPDX-License-Identifier: Apache-2.0
// The stage between two async streams: a consumer of one producer, and the producer of another consumer. The two may be
// on different devices.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/background.h"
#include "base/condition_variable.h"
#include "base/error.h"
#include "schema/copy.h"
#include "schema/tree.h"
#include "stream/async.h"
#include "stream/async_consumer.h"
#include "stream/async_producer.h"
#include "transfer/move.h"

namespace arrowdevice::stream {
namespace {

// An item from upstream, stored in order until the executor handles it.
struct Arrival {
  enum class Kind { kSchema, kTask, kEnd, kError, kGone };

  Kind kind = Kind::kGone;
  ArrowSchema schema{};
  ArrowAsyncTask task{};
  Metadata metadata = {};
  Failure failure = {};
};

// Connects the handler that upstream calls and the producer that calls downstream, which end in any order.
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
    options_.holder = device::Holder::kStreams;
    if (queue_ != nullptr) queue_use_.emplace(queue_->device());
  }
  ~Passage() override {
    if (schema_.release != nullptr) schema_.release(&schema_);
    for (auto& arrival : arrivals_) drop(arrival);
  }

  // Throws EINVAL if the options do not fit arrays on that type of device. 0 means that the type is not known yet.
  void check_queue_and_pool(ArrowDeviceType source) const { transfer::check_queue_and_pool(options_, source, to_); }

  // Sets the downstream producer. Each holds a reference to the other until downstream is released.
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
    upstream_.start(depth_);
  }

  void on_task(const ArrowAsyncTask& task, const char* metadata) override {
    Arrival arrival{Arrival::Kind::kTask};
    arrival.metadata = copy_metadata(metadata);
    arrival.task = task;
    upstream_.came();
    if (arrived(arrival)) upstream_.request_taken();
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
    arrival.metadata = copy_error_metadata(metadata);
    arrived_or_gone(arrival);
  }

  void on_release() noexcept override {
    upstream_.detach();
    Arrival arrival{Arrival::Kind::kGone};
    arrived_or_gone(arrival);
  }

  void cancel_producer() noexcept override { upstream_.cancel(); }

  // -- downstream's side, on the executor

  // Returns true if next() has an item. The last task stays unextracted while no array is on its way and none is
  // requested. Requests need a thread that holds a task, and a stream without tasks and requests would stop.
  bool has_next(bool wants_array) noexcept {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || has_ended_) return false;
    if (arrivals_.empty()) return is_lost_;
    return !is_last_task() || wants_array || upstream_.owes();
  }

  Item next() noexcept {
    std::list<Arrival> arrival;
    bool is_last;
    {
      const std::lock_guard lock(mutex_);
      if (arrivals_.empty()) {
        has_ended_ = true;
        return Item(Failure(ENOMEM, "host memory is exhausted"));
      }
      is_last = is_last_task();
      arrival.splice(arrival.end(), arrivals_, arrivals_.begin());
    }
    if (is_last && upstream_.ensure_owing()) ++requested_early_;
    try {
      return item_of(arrival.front());
    } catch (const ExtractionError&) {
      return failed_item(Failure::current(), wait_for_error());
    } catch (...) {
      return failed_item(Failure::current(), {});
    }
  }

  void handed_out() noexcept {
    if (requested_early_ > 0) {
      --requested_early_;
      return;
    }
    bool has_task;
    {
      const std::lock_guard lock(mutex_);
      has_task = !arrivals_.empty() && arrivals_.front().kind == Arrival::Kind::kTask;
    }
    upstream_.taken(has_task);  // only this thread removes tasks
  }

  void cancel() noexcept { upstream_.cancel(); }

  void close() noexcept {
    std::list<Arrival> dropped;
    std::shared_ptr<AsyncProducer> downstream;  // the caller runs in it, so it is destroyed later
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
      dropped.swap(arrivals_);
      downstream.swap(downstream_);
    }
    if (!has_ended_) upstream_.cancel();
    for (auto& arrival : dropped) drop(arrival);  // after the cancel, because the arrivals hold the producer
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

  // Needs the lock.
  bool is_last_task() const noexcept { return arrivals_.size() == 1 && arrivals_.front().kind == Arrival::Kind::kTask; }

  // Stores an arrival. Returns false if the arrival was dropped, because arrivals after a loss or an end have no
  // effect. If this throws, the arrival is unchanged.
  bool arrived(Arrival& arrival) {
    std::list<Arrival> node(1);  // allocates before the lock is taken, because this may fail
    std::swap(node.front(), arrival);
    std::shared_ptr<AsyncProducer> downstream;
    {
      const std::lock_guard lock(mutex_);
      downstream = downstream_;
      if (!is_closed_ && !is_lost_ && !has_ended_) arrivals_.splice(arrivals_.end(), node);
      changed_.notify_all();
    }
    const bool is_kept = node.empty();
    for (auto& dropped : node) drop(dropped);
    if (is_kept && downstream != nullptr) downstream->wake();
    return is_kept;
  }

  // Returns the producer's error, which should follow a failed extraction. Returns an empty list if none comes.
  std::list<Arrival> wait_for_error() noexcept {
    std::list<Arrival> error;
    std::unique_lock lock(mutex_);
    auto found = arrivals_.end();
    changed_.wait_for(lock, kErrorPatience, [&] {
      found = std::ranges::find_if(arrivals_, [](const auto& arrival) {
        return arrival.kind == Arrival::Kind::kError || arrival.kind == Arrival::Kind::kGone;
      });
      return found != arrivals_.end() || is_closed_ || is_lost_;
    });
    if (found != arrivals_.end() && found->kind == Arrival::Kind::kError) {
      error.splice(error.end(), arrivals_, found);
    }
    return error;
  }

  // Ends the stream with a failure of this side, or with the producer's report of it.
  Item failed_item(Failure failure, std::list<Arrival> said) noexcept {
    has_ended_ = true;
    upstream_.cancel();
    if (said.empty()) return Item(std::move(failure));
    return error_item(said.front());
  }

  static Item error_item(Arrival& arrival) noexcept {
    Item item(std::move(arrival.failure));
    item.metadata = std::move(arrival.metadata);
    return item;
  }

  // Stores an arrival that cannot be refused. If there is no memory for it, the stream fails with that.
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
        if (!tree_.has_value()) throw Error(EINVAL, "the producer has told the end before its schema");
        has_ended_ = true;
        Item item(Item::Kind::kEnd);
        item.metadata = std::move(arrival.metadata);
        return item;
      }
      case Arrival::Kind::kError: {
        has_ended_ = true;
        return error_item(arrival);
      }
      case Arrival::Kind::kGone: break;
    }
    has_ended_ = true;
    return Item(Failure(EIO, "the producer released its handler before the end of the stream"));
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

  // Used by the executor's thread only.
  ArrowSchema schema_{};
  std::optional<schema::Tree> tree_;
  int64_t requested_early_ = 0;  // arrays that were requested before handed_out() allowed it

  std::mutex mutex_;                           // guards all members below
  std::shared_ptr<AsyncProducer> downstream_;  // NULL after it is released
  ConditionVariable changed_;
  std::list<Arrival> arrivals_;
  std::atomic<bool> has_ended_{false};  // written by the executor's thread
  bool is_closed_ = false;
  bool is_lost_ = false;
};

class PassageSource final : public AsyncSource {
 public:
  explicit PassageSource(std::shared_ptr<Passage> passage) : passage_(std::move(passage)) {}

  bool has_next(bool wants_array) noexcept override { return passage_->has_next(wants_array); }
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
