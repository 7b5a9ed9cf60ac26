// SPDX-License-Identifier: Apache-2.0
// Tests async streams of producers that hold a lock in each call, as Python's producers do.
#include <optional>
#include <thread>

#include "held_locks.h"
#include "stream_handler.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

constexpr int kRounds = 500;

TEST_CASE("a lock of the library is counted, and one of a producer is not") {
  CHECK(held_locks() == 0);
  std::mutex ours;
  {
    const std::lock_guard lock(ours);
    CHECK(held_locks() == 1);
  }
  CHECK(held_locks() == 0);
  ForeignLock theirs;
  {
    const std::lock_guard lock(theirs);
    const std::lock_guard again(theirs);
    CHECK(held_locks() == 0);
  }
  CHECK(held_locks() == 0);
}

// A producer that holds a recursive lock in each of its functions. Its own thread calls the handler.
class LockedProducer {
 public:
  LockedProducer(ArrowAsyncDeviceStreamHandler* handler, const Sample& sample, int64_t batches)
      : handler_(handler), sample_(sample) {
    // Makes the arrays here, because the thread must not make assertions.
    while (batches-- > 0) arrays_.push_back(from_host(make_array(generate(sample.type, sample.knobs), {})));
    producer_.device_type = ARROW_DEVICE_CPU;
    producer_.private_data = this;
    producer_.request = [](ArrowAsyncProducer* self, int64_t n) { of(self).request(n); };
    producer_.cancel = [](ArrowAsyncProducer* self) { of(self).cancel(); };
    thread_ = std::thread([this] { run(); });
  }
  ~LockedProducer() { thread_.join(); }

  bool is_released() const { return is_released_; }
  bool was_called_late() const { return was_called_late_; }
  int64_t unextracted() const { return unextracted_; }

 private:
  struct Task {
    LockedProducer* producer;
    Array array;
  };

  static LockedProducer& of(ArrowAsyncProducer* self) { return *static_cast<LockedProducer*>(self->private_data); }

  void request(int64_t n) {
    enter_callback("request of a producer");
    if (is_released_) was_called_late_ = true;
    const std::lock_guard lock(lock_);
    requested_ += n;
    changed_.notify_all();
  }

  void cancel() {
    enter_callback("cancel of a producer");
    if (is_released_) was_called_late_ = true;
    const std::lock_guard lock(lock_);
    is_cancelled_ = true;
    changed_.notify_all();
  }

  static int extract(ArrowAsyncTask* self, ArrowDeviceArray* out) {
    enter_callback("extract_data of a task");
    const std::unique_ptr<Task> task(static_cast<Task*>(self->private_data));
    {
      const std::lock_guard lock(task->producer->lock_);
      if (out != nullptr) *out = task->array.take();
    }
    --task->producer->unextracted_;  // the producer may be destroyed after this
    return 0;
  }

  void run() {
    std::unique_lock lock(lock_);
    auto schema = make_schema(sample_.type);
    handler_->producer = &producer_;
    int code = handler_->on_schema(handler_, schema.get());
    while (code == 0 && !is_cancelled_) {
      if (requested_ == 0) {
        changed_.wait(lock);
        continue;
      }
      --requested_;
      if (arrays_.empty()) {
        handler_->on_next_task(handler_, nullptr, nullptr);
        break;
      }
      ++unextracted_;
      ArrowAsyncTask task{extract, new Task{this, std::move(arrays_.back())}};
      arrays_.pop_back();
      code = handler_->on_next_task(handler_, &task, nullptr);
    }
    handler_->release(handler_);
    is_released_ = true;
  }

  ArrowAsyncDeviceStreamHandler* handler_;
  const Sample& sample_;
  ArrowAsyncProducer producer_{};
  ForeignLock lock_;  // guards all members below
  std::condition_variable_any changed_;
  std::vector<Array> arrays_;
  int64_t requested_ = 0;
  bool is_cancelled_ = false;
  std::atomic<bool> is_released_{false}, was_called_late_{false};
  std::atomic<int64_t> unextracted_{0};
  std::thread thread_;
};

// Ends the program with a message if a round takes more than a minute, because a thread that hangs cannot be
// ended.
class Watch {
 public:
  explicit Watch(const char* what)
      : thread_([this, what] {
          std::unique_lock lock(mutex_);
          int seen = 0;
          while (!is_over_) {
            changed_.wait_for(lock, std::chrono::minutes(1), [&] { return is_over_ || rounds_ != seen; });
            if (!is_over_ && rounds_ == seen) {
              std::fprintf(stderr, "round %d of %s hangs\n", seen, what);
              std::_Exit(1);
            }
            seen = rounds_;
          }
        }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void next() {
    const std::lock_guard lock(mutex_);
    ++rounds_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int rounds_ = 0;
  bool is_over_ = false;
  std::thread thread_;
};

constexpr int64_t kArrays = 6;

int64_t arrays_of(DeviceStream& stream) {
  int64_t n = 0;
  while (!next(stream).released()) ++n;
  return n;
}

void check_ended(LockedProducer& producer) {
  until([&] { return producer.is_released(); });
  // A thread of the library drops the tasks of a stream that has ended.
  until([&] { return producer.unextracted() == 0; });
  CHECK_FALSE(producer.was_called_late());
}

TEST_CASE("a producer that uses its own lock is collected") {
  begin();
  const Sample sample(field("i"), {.rows = 3});
  Watch watch("collecting");
  for (int round = 0; round < kRounds; ++round, watch.next()) {
    const auto options = async_options(1 + round % 3);
    ArrowAsyncDeviceStreamHandler* handler = nullptr;
    DeviceStream stream;
    must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_CPU}, &options, &handler, stream.out());
    LockedProducer producer(handler, sample, kArrays);
    REQUIRE(arrays_of(stream) == kArrays);
    check_ended(producer);
  }
}

TEST_CASE("a producer that uses its own lock is moved to a device") {
  begin();
  const Sample sample(field("i"), {.rows = 3});
  Watch watch("moving to a device");
  for (int round = 0; round < kRounds; ++round, watch.next()) {
    const auto options = async_options(1 + round % 3);
    ArrowAsyncDeviceStreamHandler *collecting = nullptr, *moving = nullptr;
    DeviceStream stream;
    must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, &options, &collecting, stream.out());
    must(arrowdevice_async_to_device, collecting, sim(0), &options, &moving);
    LockedProducer producer(moving, sample, kArrays);
    REQUIRE(arrays_of(stream) == kArrays);
    check_ended(producer);
  }
}

TEST_CASE("a collected stream is released early while its producer uses its own lock") {
  begin();
  const Sample sample(field("i"), {.rows = 3});
  Watch watch("releasing early");
  for (int round = 0; round < kRounds; ++round, watch.next()) {
    const auto options = async_options(1 + round % 3);
    ArrowAsyncDeviceStreamHandler* handler = nullptr;
    DeviceStream stream;
    must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_CPU}, &options, &handler, stream.out());
    LockedProducer producer(handler, sample, kArrays);
    for (int64_t n = round % (kArrays + 1); n > 0; --n) REQUIRE_FALSE(next(stream).released());
    stream.reset();
    check_ended(producer);
  }
}

TEST_CASE("a stream to a device is released early while its producer uses its own lock") {
  begin();
  const Sample sample(field("i"), {.rows = 3});
  Watch watch("releasing early behind a device");
  for (int round = 0; round < kRounds; ++round, watch.next()) {
    const auto options = async_options(1 + round % 3);
    ArrowAsyncDeviceStreamHandler *collecting = nullptr, *moving = nullptr;
    DeviceStream stream;
    must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, &options, &collecting, stream.out());
    must(arrowdevice_async_to_device, collecting, sim(0), &options, &moving);
    LockedProducer producer(moving, sample, kArrays);
    for (int64_t n = round % (kArrays + 1); n > 0; --n) REQUIRE_FALSE(next(stream).released());
    stream.reset();
    check_ended(producer);
  }
}

}  // namespace
