// SPDX-License-Identifier: Apache-2.0
#include "stream/async_producer.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/background.h"
#include "base/log.h"

namespace arrowdevice::stream {

// -- items

Item::Item(Item&& other) noexcept
    : kind(other.kind),
      schema(std::exchange(other.schema, {})),
      array(std::exchange(other.array, {})),
      metadata(std::move(other.metadata)),
      failure(std::move(other.failure)) {}

Item::~Item() {
  if (schema.release != nullptr) schema.release(&schema);
  if (array.array.release != nullptr) array.array.release(&array.array);
}

// -- tasks

// The private_data of a task. It holds a reference to the producer, because the consumer may still call it.
struct AsyncProducer::TaskData {
  std::shared_ptr<AsyncProducer> producer;
  ArrowDeviceArray array;
};

// Moves the data to `out`, or releases the data if `out` is NULL.
int AsyncProducer::extract(ArrowAsyncTask* task, ArrowDeviceArray* out) noexcept {
  auto* const data = static_cast<TaskData*>(std::exchange(task->private_data, nullptr));
  if (data == nullptr) {
    if (out != nullptr) out->array.release = nullptr;
    return EINVAL;  // the second extraction of a task
  }
  ArrowDeviceArray array = data->array;
  const auto producer = std::move(data->producer);
  {
    const Lock lock(producer->mutex_);
    if (producer->pending_task_ == data) producer->pending_task_ = nullptr;
    producer->state_.task_gone();
  }
  delete data;
  if (out != nullptr) {
    *out = array;
  } else {
    array.array.release(&array.array);
  }
  return 0;
}

// -- the producer

AsyncProducer::AsyncProducer(ArrowDeviceType device_type, ArrowAsyncDeviceStreamHandler& handler,
                             std::unique_ptr<AsyncSource> source, std::unique_ptr<Executor> executor)
    : handler_(handler), source_(std::move(source)), executor_(std::move(executor)) {
  published_.shipped.device_type = device_type;
  published_.shipped.request = request;
  published_.shipped.cancel = cancel;
  published_.owner = this;
}

AsyncProducer& AsyncProducer::of(ArrowAsyncProducer* producer) noexcept {
  return *reinterpret_cast<OwnProducer*>(producer)->owner;
}

void AsyncProducer::request(ArrowAsyncProducer* self, int64_t n) noexcept {
  auto& producer = of(self);
  const auto alive = producer.shared_from_this();
  Lock lock(producer.mutex_);
  producer.state_.request(n);
  producer.schedule(lock);
}

void AsyncProducer::cancel(ArrowAsyncProducer* self) noexcept {
  auto& producer = of(self);
  const auto alive = producer.shared_from_this();
  Lock lock(producer.mutex_);
  if (producer.state_.is_cancelled() || producer.state_.is_released()) return;
  producer.state_.cancel();
  lock.unlock();
  producer.source_->cancel();  // wakes a thread that waits in the source
  lock.lock();
  producer.schedule(lock);
}

int AsyncProducer::start() noexcept {
  {
    const Lock lock(mutex_);
    keep_alive_ = shared_from_this();
    is_scheduled_ = true;
  }
  const int code = executor_->submit(run_task, this);
  if (code == 0) return 0;
  const Lock lock(mutex_);
  keep_alive_.reset();  // the caller holds a reference too
  return code;
}

void AsyncProducer::wake() noexcept {
  const auto alive = shared_from_this();
  Lock lock(mutex_);
  schedule(lock);
}

// Schedules the executor's task if there is work and no task is scheduled.
void AsyncProducer::schedule(Lock& lock) noexcept {
  if (is_scheduled_ || !has_work()) return;
  keep_alive_ = shared_from_this();
  is_scheduled_ = true;
  lock.unlock();
  const int code = executor_->submit(run_task, this);
  if (code != 0) {
    // The stream ends with the executor's code. This stack cannot report it, because the caller may be inside a
    // callback.
    lock.lock();
    state_.fail(code);
    lock.unlock();
    try {
      background::start([this] { run(); });
    } catch (...) {
      log(LogLevel::kError, "an async stream cannot be ended: neither its executor nor a thread runs its work");
      lock.lock();
      is_scheduled_ = false;  // the next call tries again
      return;
    }
  }
  lock.lock();
}

bool AsyncProducer::has_work() noexcept {
  if (state_.is_released()) return false;
  return state_.next() != AsyncState::Step::kNothing || source_->has_next(state_.wants_array());
}

void AsyncProducer::run_task(void* producer) noexcept { static_cast<AsyncProducer*>(producer)->run(); }

// Runs on the executor, in at most one task at a time.
void AsyncProducer::run() noexcept {
  Lock lock(mutex_);
  while (has_work()) {
    const auto step = state_.next();
    if (step != AsyncState::Step::kNothing) {
      const auto code = take(step, lock);
      if (code.has_value()) state_.taken(step, *code);
      continue;
    }
    lock.unlock();
    std::list<Item> item;  // destroyed while the lock is not held
    try {
      item.push_back(source_->next());
    } catch (const std::bad_alloc&) {
      item.clear();
    }
    lock.lock();
    arrived(item);
  }
  is_scheduled_ = false;
  std::shared_ptr<AsyncProducer> last;  // destroyed after the unlock
  if (state_.is_released()) last.swap(keep_alive_);
  lock.unlock();
}

// Needs the lock. An empty list means that there was no memory for the item.
void AsyncProducer::arrived(std::list<Item>& item) noexcept {
  if (item.empty()) return state_.fail(ENOMEM);
  const auto kind = item.front().kind;
  const int code = item.front().failure.code();
  items_.splice(items_.end(), item);
  switch (kind) {
    case Item::Kind::kSchema: state_.schema_arrived(); break;
    case Item::Kind::kArray: state_.array_arrived(); break;
    case Item::Kind::kEnd: state_.end_arrived(); break;
    case Item::Kind::kFailure: state_.failure_arrived(code != 0 ? code : EIO); break;
  }
}

// Takes a step. Returns the handler's code, or nullopt if the stream has failed instead.
std::optional<int> AsyncProducer::take(AsyncState::Step step, Lock& lock) noexcept {
  switch (step) {
    case AsyncState::Step::kSchema: return tell_schema(lock);
    case AsyncState::Step::kTask: return tell_task(lock);
    case AsyncState::Step::kEnd: return tell_end(lock);
    case AsyncState::Step::kError: tell_error(lock); return 0;
    case AsyncState::Step::kRelease: release_handler(lock); return 0;
    case AsyncState::Step::kNothing: break;
  }
  return 0;
}

int AsyncProducer::tell_schema(Lock& lock) noexcept {
  std::list<Item> item;
  item.splice(item.end(), items_, items_.begin());
  lock.unlock();
  additional_metadata_ = std::move(item.front().metadata);
  published_.set_metadata(encoded(additional_metadata_));
  handler_.producer = &published_.shipped;
  const int code = handler_.on_schema(&handler_, &item.front().schema);
  item.clear();  // releases a schema that the consumer has not moved
  lock.lock();
  return code;
}

std::optional<int> AsyncProducer::tell_task(Lock& lock) noexcept {
  auto* const data = new (std::nothrow) TaskData{shared_from_this(), {}};
  if (data == nullptr) {
    state_.fail(ENOMEM);
    return std::nullopt;
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  data->array = std::exchange(item.array, {});
  pending_task_ = data;
  lock.unlock();
  ArrowAsyncTask task{extract, data};
  const int code = handler_.on_next_task(&handler_, &task, encoded(item.metadata));
  source_->handed_out();
  lock.lock();
  // A consumer that refused the task has not stored it.
  const bool is_refused = code != 0 && pending_task_ == data;
  pending_task_ = nullptr;
  if (is_refused) {
    lock.unlock();
    ArrowAsyncTask refused{extract, data};
    extract(&refused, nullptr);
    lock.lock();
  }
  return code;
}

int AsyncProducer::tell_end(Lock& lock) noexcept {
  const Item item = std::move(items_.front());
  items_.pop_front();
  lock.unlock();
  const int code = handler_.on_next_task(&handler_, nullptr, encoded(item.metadata));
  lock.lock();
  return code;
}

void AsyncProducer::tell_error(Lock& lock) noexcept {
  const int code = state_.error();
  const bool is_own = state_.is_own_error();
  Item item = is_own || items_.empty() ? Item(Item::Kind::kFailure) : std::move(items_.back());
  lock.unlock();
  handler_.producer = &published_.shipped;
  if (is_own)
    item.failure = Failure(code, code == EINVAL ? "a request of no arrays, or of fewer" : std::strerror(code));
  const char* const text = item.failure.text();
  handler_.on_error(&handler_, code, text, encoded(item.metadata));
  lock.lock();
}

// Releases the handler, and destroys the items that were never reported.
void AsyncProducer::release_handler(Lock& lock) noexcept {
  std::list<Item> items;
  items.swap(items_);
  lock.unlock();
  items.clear();
  source_->close();
  handler_.release(&handler_);
  lock.lock();
}

}  // namespace arrowdevice::stream
