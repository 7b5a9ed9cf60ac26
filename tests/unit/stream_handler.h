// SPDX-License-Identifier: Apache-2.0
// A foreign consumer and a foreign producer of async streams, of which a test decides every step.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "stream_producer.h"
#include "support/callback.h"

namespace stream_test {

// A handler that writes down what it is called with. Lives on behind its handler.
struct Consumer {
  // What to do in a callback, without any lock; a result but 0 refuses.
  std::function<int(Consumer&)> on_schema = [](Consumer& consumer) { return consumer.request(1'000'000), 0; };
  std::function<int(Consumer&, ArrowAsyncTask*)> on_task = [](Consumer& consumer, ArrowAsyncTask* task) {
    return consumer.keep_data(task);
  };

  void request(int64_t n) { producer->request(producer, n); }
  void cancel() { producer->cancel(producer); }

  // Extracts it into `arrays`.
  int keep_data(ArrowAsyncTask* task);

  // Waits for it.
  void wait_for_release();
  void wait_for_tasks(int64_t n);

  std::string calls() const;  // "STTER", as they came; waits for nothing

  Owned<ArrowSchema> schema;
  std::vector<Array> arrays;
  std::vector<ArrowAsyncTask> tasks;  // kept as they came, by tests that do so
  int code = 0;                       // of on_error
  std::string text;
  std::vector<std::string> metadata;  // of each task
  std::string additional_metadata;
  ArrowDeviceType device_type = 0;
  ArrowAsyncProducer* producer = nullptr;
  std::atomic<bool> overlapped{false};  // two callbacks at once

 private:
  friend ArrowAsyncDeviceStreamHandler* handler_of(std::shared_ptr<Consumer> consumer);
  struct Callbacks;

  void note(char call);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string calls_;
  int64_t pending_task_ = 0;
  std::atomic<bool> inside_{false};
};

// Freed with its release.
ArrowAsyncDeviceStreamHandler* handler_of(std::shared_ptr<Consumer> consumer);

// A producer whose every call of a handler the test makes itself.
class Hand {
 public:
  explicit Hand(ArrowAsyncDeviceStreamHandler* handler, ArrowDeviceType type = ARROW_DEVICE_CPU);
  ~Hand();
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;

  int schema(const Field& type);
  int task(Array array, const char* metadata = nullptr, int code = 0);  // `code`: what its extraction fails with
  int end();
  void error(int code, const char* text);
  void release();

  int64_t requested() const { return requested_; }
  int64_t cancels() const { return cancels_; }
  int64_t unextracted() const { return live_tasks_; }
  ArrowAsyncProducer& producer() { return producer_; }

  // Runs within each extraction that fails, before it returns.
  std::function<void()> at_failed_extraction = [] {};

 private:
  struct Data;

  ArrowAsyncDeviceStreamHandler* handler_;
  ArrowAsyncProducer producer_{};
  std::atomic<int64_t> requested_{0}, cancels_{0}, live_tasks_{0};
};

arrowdevice_async_options async_options(int32_t depth = 0);

// Runs what it is given when the test says so.
struct Executor {
  std::deque<std::pair<void (*)(void*), void*>> tasks;
  int64_t accepts = INT64_MAX;

  static int submit(void* user, void (*task)(void*), void* arg) {
    enter_callback("submit of an executor");
    auto& executor = *static_cast<Executor*>(user);
    if (executor.accepts-- <= 0) return EUSERS;
    executor.tasks.emplace_back(task, arg);
    return 0;
  }

  void run() {
    while (!tasks.empty()) {
      const auto [task, arg] = tasks.front();
      tasks.pop_front();
      task(arg);
    }
  }

  arrowdevice_async_options options() {
    auto made = async_options();
    made.submit = submit;
    made.user = this;
    return made;
  }
};

}  // namespace stream_test
