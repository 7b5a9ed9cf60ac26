// SPDX-License-Identifier: Apache-2.0
// Provides a foreign consumer and a foreign producer of async streams. The test decides every step of both.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "stream_producer.h"
#include "support/callback.h"

namespace stream_test {

// A handler that records its calls. It outlives the handler that the library releases.
struct Consumer {
  // The action of a callback, which runs without a lock. A result other than 0 makes the callback fail.
  std::function<int(Consumer&)> on_schema = [](Consumer& consumer) { return consumer.request(1'000'000), 0; };
  std::function<int(Consumer&, ArrowAsyncTask*)> on_task = [](Consumer& consumer, ArrowAsyncTask* task) {
    return consumer.keep_data(task);
  };

  void request(int64_t n) { producer->request(producer, n); }
  void cancel() { producer->cancel(producer); }

  // Extracts the task's array into `arrays`.
  int keep_data(ArrowAsyncTask* task);

  // Waits until the handler is released.
  void wait_for_release();
  void wait_for_tasks(int64_t n);

  std::string calls() const;  // "STTER", in the order of the calls; does not wait

  Owned<ArrowSchema> schema;
  std::vector<Array> arrays;
  std::vector<ArrowAsyncTask> tasks;  // the tasks, if the test keeps them
  int code = 0;                       // the code that on_error received
  std::string text;
  std::vector<std::string> metadata;  // metadata of each task, encoded
  std::string last_metadata;          // metadata of the end or the error, encoded
  std::string additional_metadata;
  ArrowDeviceType device_type = 0;
  ArrowAsyncProducer* producer = nullptr;
  std::atomic<bool> overlapped{false};  // two callbacks ran at the same time

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

// Returns a handler that its release callback frees.
ArrowAsyncDeviceStreamHandler* handler_of(std::shared_ptr<Consumer> consumer);

// A producer. The test makes each of its calls to a handler.
class Hand {
 public:
  explicit Hand(ArrowAsyncDeviceStreamHandler* handler, ArrowDeviceType type = ARROW_DEVICE_CPU);
  ~Hand();
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;

  int schema(const Field& type);
  // `code`: the code with which the extraction fails
  int task(Array array, const char* metadata = nullptr, int code = 0);
  int end(const char* metadata = nullptr);
  void error(int code, const char* text, const char* metadata = nullptr);
  void release();

  int64_t requested() const { return requested_; }
  int64_t cancels() const { return cancels_; }
  int64_t unextracted() const { return live_tasks_; }
  ArrowAsyncProducer& producer() { return producer_; }

  // Runs within each extraction that fails, before the extraction returns.
  std::function<void()> at_failed_extraction = [] {};

 private:
  struct Data;

  ArrowAsyncDeviceStreamHandler* handler_;
  ArrowAsyncProducer producer_{};
  std::atomic<int64_t> requested_{0}, cancels_{0}, live_tasks_{0};
};

arrowdevice_async_options async_options(int32_t depth = 0);

// A handler of the library, and the stream of the arrays that the handler gets.
struct Collected {
  ArrowAsyncDeviceStreamHandler* handler = nullptr;
  DeviceStream stream;
};

Collected collect(ArrowDeviceType type = ARROW_DEVICE_CPU, int32_t depth = 0,
                  int32_t layout = ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN);

// Queues tasks, and runs them when the test calls run().
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
