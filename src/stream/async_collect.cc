// SPDX-License-Identifier: Apache-2.0
// The library as a consumer: a producer's arrays as a stream that can be pulled.
#include <cerrno>
#include <cstdio>
#include <list>
#include <mutex>
#include <string>

#include "array/locate.h"
#include "base/condition_variable.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "schema/copy.h"
#include "stream/async.h"
#include "stream/async_consumer.h"
#include "stream/device_stream.h"

namespace arrowdevice::stream {
namespace {

constexpr const char* kCancelled = "the stream was cancelled";

// Connects the producer's handler and the stream, which end in any order. The thread that pulls extracts the tasks, so
// that the producer's work in the extraction happens there.
class Collection final : public AsyncConsumer {
 public:
  Collection(ArrowDeviceType type, const AsyncOptions& options)
      : type_(type), depth_(options.depth), layout_(options.upstream_layout) {}
  ~Collection() override {
    if (schema_.release != nullptr) schema_.release(&schema_);
  }

  // -- the producer's side

  // Attaches the producer first. A concurrent close then finds the producer, or this function finds the close.
  void on_schema(ArrowSchema schema, ArrowAsyncProducer* producer) override {
    if (producer != nullptr) upstream_.attach(producer);
    if (!keep(schema)) {
      schema.release(&schema);
      fail_with(EINVAL, "the producer has told its schema twice");
    }
    if (producer == nullptr) fail_with(EINVAL, "the handler has no producer");
    if (producer->device_type != type_) {
      fail_with(EINVAL, "the producer's arrays are on device type " + std::to_string(producer->device_type) + ", not " +
                            std::to_string(type_));
    }
    Metadata metadata = upstream_.additional_metadata(layout_);
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_ || is_cancelled_) throw Error(ECANCELED, kCancelled);
      metadata_ = std::move(metadata);
      has_schema_ = true;
      changed_.notify_all();
    }
    upstream_.start(depth_);
  }

  void on_task(const ArrowAsyncTask& task, const char* metadata) override {
    std::list<Task> node(1);  // allocates before the lock is taken, because this may fail
    node.front() = {task, copy_metadata(metadata)};
    upstream_.came();
    {
      const std::lock_guard lock(mutex_);
      if (!is_closed_ && !failure_) {
        tasks_.splice(tasks_.end(), node);
        changed_.notify_all();
      }
    }
    for (auto& unwanted : node) discard(unwanted.task);
    if (node.empty()) upstream_.request_taken();
  }

  void on_end(const char* metadata) override {
    upstream_.detach();
    Metadata copy = copy_metadata(metadata);
    {
      const std::lock_guard lock(mutex_);
      end_metadata_ = std::move(copy);
      // After a refused task, this end is not the end of the stream.
      if (has_schema_ && !failure_) has_ended_ = true;
      changed_.notify_all();
      if (has_schema_ || failure_) return;  // Arrow C++ reports the end after a schema that was refused
    }
    throw Error(EINVAL, "the producer has told the end before its schema");
  }

  void on_error(int code, const char* text, const char* metadata) noexcept override {
    upstream_.detach();
    Metadata copy = copy_error_metadata(metadata);
    char silent[64];  // a text that needs no memory
    std::snprintf(silent, sizeof silent, "the producer failed with errno %d", code);
    const std::lock_guard lock(mutex_);
    if (!failure_) {
      has_told_error_ = true;
      error_metadata_ = std::move(copy);
    }
    note_failure(Failure(code, text != nullptr ? text : silent));
  }

  void cancel_producer() noexcept override { upstream_.cancel(); }

  void on_release() noexcept override {
    upstream_.detach();
    const std::lock_guard lock(mutex_);
    if (!has_ended_) note_failure(Failure(EIO, "the producer released its handler before the end of the stream"));
  }

  // -- the stream's side

  void schema(ArrowSchema* out) {
    {
      std::unique_lock lock(mutex_);
      wait(lock, [&] { return has_schema_ || failure_ || is_cancelled_; });
      if (!has_schema_) throw_failure();
    }
    schema::copy(schema_, out);  // the schema does not change any more
  }

  // Returns the producer's metadata, after schema() has returned.
  const char* metadata() const noexcept { return encoded(metadata_); }

  bool next(ArrowDeviceArray* out, Metadata& metadata) {
    Task next;
    {
      std::unique_lock lock(mutex_);
      wait(lock, [&] { return !tasks_.empty() || has_ended_ || failure_ || is_cancelled_; });
      if (is_cancelled_ || (tasks_.empty() && !has_ended_)) {
        if (!is_cancelled_) metadata = std::move(error_metadata_);
        throw_failure();
      }
      if (tasks_.empty()) {
        metadata = std::move(end_metadata_);
        return false;
      }
      next = std::move(tasks_.front());
      tasks_.pop_front();
    }
    constexpr bool kHasTask = true;
    upstream_.taken(kHasTask);
    ArrowDeviceArray array = extract_or_fail(next.task, metadata);
    try {
      array::check_accessible(array, type_);
    } catch (...) {
      array.array.release(&array.array);
      throw;
    }
    *out = array;
    metadata = std::move(next.metadata);
    return true;
  }

  void cancel() noexcept {
    {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
      changed_.notify_all();
    }
    upstream_.cancel();
  }

  void close() noexcept {
    std::list<Task> unwanted;
    bool has_ended;
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
      unwanted.swap(tasks_);
      has_ended = has_ended_ || failure_;
    }
    if (!has_ended) upstream_.cancel();
    for (auto& dropped : unwanted) discard(dropped.task);
  }

 private:
  template <typename Predicate>
  void wait(std::unique_lock<std::mutex>& lock, const Predicate& predicate) {
    interrupt::wait(changed_, lock, Deadline(ARROWDEVICE_NO_TIMEOUT), predicate);
  }

  struct Task {
    ArrowAsyncTask task{};
    Metadata metadata;
  };

  // Stores the schema. Returns false if there is a schema already.
  bool keep(const ArrowSchema& schema) noexcept {
    const std::lock_guard lock(mutex_);
    if (schema_.release != nullptr) return false;
    schema_ = schema;
    return true;
  }

  // Extracts a task. A failed extraction throws the error that the producer reports by on_error, if it reports any.
  ArrowDeviceArray extract_or_fail(ArrowAsyncTask& task, Metadata& metadata) {
    try {
      return extract(task);
    } catch (const ExtractionError&) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kErrorPatience, [&] { return failure_ || has_ended_ || is_cancelled_; });
      if (has_told_error_) {
        metadata = std::move(error_metadata_);
        failure_.raise();
      }
      throw;
    }
  }

  [[noreturn]] void fail_with(int code, const std::string& text) {
    {
      const std::lock_guard lock(mutex_);
      note_failure(Failure(code, text));
    }
    throw Error(code, text);
  }

  // Stores the first failure and ignores later ones. Needs the lock.
  void note_failure(Failure failure) noexcept {
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }

  [[noreturn]] void throw_failure() const {
    if (is_cancelled_) throw Error(ECANCELED, kCancelled);
    failure_.raise();
  }

  const ArrowDeviceType type_;
  const int32_t depth_;
  const int32_t layout_;
  ForeignProducer upstream_;

  std::mutex mutex_;  // guards all members below; unlocked during calls of the producer
  ConditionVariable changed_;
  ArrowSchema schema_{};
  Metadata metadata_;
  std::list<Task> tasks_;
  Metadata end_metadata_;
  Metadata error_metadata_;
  Failure failure_;  // comes after the tasks
  bool has_schema_ = false;
  bool has_ended_ = false;
  bool has_told_error_ = false;  // failure_ is the error that the producer reported by on_error
  bool is_cancelled_ = false;
  bool is_closed_ = false;
};

class CollectedStream final : public DeviceStream {
 public:
  explicit CollectedStream(std::shared_ptr<Collection> collection) : collection_(std::move(collection)) {}
  ~CollectedStream() override { collection_->close(); }

  void schema(ArrowSchema* out) override { collection_->schema(out); }
  const char* metadata() const noexcept override { return collection_->metadata(); }
  bool next(ArrowDeviceArray* out, Metadata& metadata) override { return collection_->next(out, metadata); }
  void cancel() noexcept override { collection_->cancel(); }

 private:
  std::shared_ptr<Collection> collection_;
};

}  // namespace

ArrowAsyncDeviceStreamHandler* collect(ArrowDeviceType type, const AsyncOptions& options, ArrowDeviceArrayStream* out) {
  const auto collection = std::make_shared<Collection>(type, options);
  Publication<ArrowDeviceArrayStream> publication(std::make_unique<CollectedStream>(collection));
  auto* const handler = make_handler(collection);
  publish_on(type, publication, out);
  return handler;
}

}  // namespace arrowdevice::stream
