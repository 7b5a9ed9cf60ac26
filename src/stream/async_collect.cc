// SPDX-License-Identifier: Apache-2.0
// The library as a consumer: a producer's arrays as a stream that can be pulled.
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <string>

#include "backend/device_types.h"
#include "base/error.h"
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
  Collection(ArrowDeviceType type, int32_t depth) : type_(type), depth_(depth) {}
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
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_ || is_cancelled_) throw Error(ECANCELED, kCancelled);
      has_schema_ = true;
      changed_.notify_all();
    }
    upstream_.start(depth_);
  }

  void on_task(const ArrowAsyncTask& task, const char*) override {
    std::list<ArrowAsyncTask> node(1, task);  // allocates before the lock is taken, because this may fail
    upstream_.came();
    {
      const std::lock_guard lock(mutex_);
      if (!is_closed_ && !failure_) {
        tasks_.splice(tasks_.end(), node);
        changed_.notify_all();
      }
    }
    for (auto& unwanted : node) discard(unwanted);
    if (node.empty()) upstream_.request_taken();
  }

  void on_end(const char*) override {
    upstream_.detach();
    {
      const std::lock_guard lock(mutex_);
      // After a refused task, this end is not the end of the stream.
      if (has_schema_ && !failure_) has_ended_ = true;
      changed_.notify_all();
      if (has_schema_ || failure_) return;  // Arrow C++ reports the end after a schema that was refused
    }
    throw Error(EINVAL, "the producer has told the end before its schema");
  }

  void on_error(int code, const char* text, const char*) noexcept override {
    upstream_.detach();
    char silent[64];  // a text that needs no memory
    std::snprintf(silent, sizeof silent, "the producer failed with errno %d", code);
    const std::lock_guard lock(mutex_);
    if (!failure_) has_told_error_ = true;
    note_failure(Failure(code, text != nullptr ? text : silent));
  }

  void cancel_producer() noexcept override { upstream_.cancel(); }

  void on_release() noexcept override {
    upstream_.detach();
    const std::lock_guard lock(mutex_);
    if (!has_ended_) note_failure(Failure(EIO, "the producer has let go of the stream before its end"));
  }

  // -- the stream's side

  void schema(ArrowSchema* out) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return has_schema_ || failure_ || is_cancelled_; });
      if (!has_schema_) throw_failure();
    }
    schema::copy(schema_, out);  // the schema does not change any more
  }

  bool next(ArrowDeviceArray* out) {
    ArrowAsyncTask task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !tasks_.empty() || has_ended_ || failure_ || is_cancelled_; });
      if (is_cancelled_ || (tasks_.empty() && !has_ended_)) throw_failure();
      if (tasks_.empty()) return false;
      task = tasks_.front();
      tasks_.pop_front();
    }
    constexpr bool kHasTask = true;
    upstream_.taken(kHasTask);
    ArrowDeviceArray array = extract_or_fail(task);
    if (array.device_type != type_) {
      const std::string where = backend::device_text(array.device_type, array.device_id);
      array.array.release(&array.array);
      throw Error(EINVAL,
                  "an array of the stream is on " + where + ", which is of another device type than the stream");
    }
    *out = array;
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
    std::list<ArrowAsyncTask> unwanted;
    bool has_ended;
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
      unwanted.swap(tasks_);
      has_ended = has_ended_ || failure_;
    }
    if (!has_ended) upstream_.cancel();
    for (auto& task : unwanted) discard(task);
  }

 private:
  // Stores the schema. Returns false if there is a schema already.
  bool keep(const ArrowSchema& schema) noexcept {
    const std::lock_guard lock(mutex_);
    if (schema_.release != nullptr) return false;
    schema_ = schema;
    return true;
  }

  // Extracts a task. A failed extraction throws the error that the producer reports by on_error, if it reports any.
  ArrowDeviceArray extract_or_fail(ArrowAsyncTask& task) {
    try {
      return extract(task);
    } catch (const ExtractionError&) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kErrorPatience, [&] { return failure_ || has_ended_ || is_cancelled_; });
      if (has_told_error_) failure_.raise();
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
  ForeignProducer upstream_;

  std::mutex mutex_;  // guards all members below; unlocked during calls of the producer
  std::condition_variable changed_;
  ArrowSchema schema_{};
  std::list<ArrowAsyncTask> tasks_;
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
  bool next(ArrowDeviceArray* out) override { return collection_->next(out); }
  void cancel() noexcept override { collection_->cancel(); }

 private:
  std::shared_ptr<Collection> collection_;
};

}  // namespace

ArrowAsyncDeviceStreamHandler* collect(ArrowDeviceType type, const AsyncOptions& options, ArrowDeviceArrayStream* out) {
  const auto collection = std::make_shared<Collection>(type, options.depth);
  Publication<ArrowDeviceArrayStream> publication(std::make_unique<CollectedStream>(collection));
  auto* const handler = make_handler(collection);
  publish_on(type, publication, out);
  return handler;
}

}  // namespace arrowdevice::stream
