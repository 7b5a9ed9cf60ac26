// SPDX-License-Identifier: Apache-2.0
// Tests copies to the CPU that run while the caller goes on, and descriptors that tell when an array is ready.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "library.h"
#include "support/ending.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

// The result of a copy. Takes the array that it receives.
class Result {
 public:
  static void done(void* user, ArrowArray* array, ArrowDeviceArray* source, const arrowdevice_error* error) {
    auto& self = *static_cast<Result*>(user);
    if (self.also) self.also();
    const std::lock_guard lock(self.mutex_);
    ++self.calls_;
    self.thread_ = std::this_thread::get_id();
    if (error != nullptr) self.error_ = *error;
    if (array != nullptr) self.array_ = Owned(std::exchange(*array, ArrowArray{}));
    if (source != nullptr && self.takes_source) self.source_ = Owned(std::exchange(*source, ArrowDeviceArray{}));
    self.changed_.notify_all();
  }

  // Does not use Catch, because Catch serves one thread.
  void start(Array& moved, const Schema& schema, const arrowdevice_copy_options* options = nullptr) {
    must(arrowdevice_array_to_host_async, moved.get(), schema.get(), options, &Result::done, this);
    expect(moved.released(), "the array was not taken");
  }

  Result& wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return calls_ > 0; });
    return *this;
  }

  int calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // The next functions follow wait().
  std::thread::id thread() const { return thread_; }
  const arrowdevice_error& error() const { return error_; }
  Array& source() { return source_; }
  std::string difference(const SampleRows& sample) const {
    return error_.code != 0 ? error_.message
                            : arrowdevice::testing::difference(*sample.schema, *sample.twin, *sample.schema, *array_);
  }

  bool takes_source = true;
  std::function<void()> also;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int calls_ = 0;
  std::thread::id thread_;
  arrowdevice_error error_{};
  Owned<ArrowArray> array_;
  Array source_;
};

TEST_CASE("an array comes to the CPU while the caller goes on") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  for (int64_t id = 0; id < kSims; ++id) {
    Held engine(id);
    Array there = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
    Result result;
    result.start(there, sample.schema);
    CHECK(result.calls() == 0);
    engine.resume();
    CHECK(result.wait().difference(sample) == "");
    CHECK(result.thread() != std::this_thread::get_id());
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    CHECK(result.calls() == 1);
    CHECK(stats(default_pool(sim(id))).used_bytes == 0);
  }
}

TEST_CASE("an array on the CPU is shared, and its result comes from another thread too") {
  begin();
  Sample sample(mixed_batch(), {.rows = 60});
  Result result;
  result.start(sample.host, sample.schema);
  CHECK(result.wait().difference(sample) == "");
  CHECK(result.thread() != std::this_thread::get_id());
}

TEST_CASE("many arrays of all devices come to the CPU at the same time") {
  begin();
  const Sample sample(list_of(field("u")), {.rows = 60});
  Result results[40];
  for (int64_t i = 0; i < std::ssize(results); ++i) {
    Array there = copy(sample, sim(i % kSims), i % 3 == 0 ? ARROWDEVICE_COPY_ASYNC : 0u);
    results[i].start(there, sample.schema);
  }
  for (auto& result : results) CHECK(result.wait().difference(sample) == "");
}

TEST_CASE("an array that is not ready delays no other array") {
  begin();
  const Sample sample(field("l"), {.rows = 60});
  control::UserEvent written;
  Owned<ArrowArray> plain(copy(sample, sim(0)).take().array);
  Array pending;
  must(arrowdevice_array_export_event, sim(0), plain.get(), written.sync_event(), nullptr, nullptr, pending.out());
  Result late;
  late.start(pending, sample.schema);
  for (const int64_t id : {0, 1}) {
    Array ready = copy(sample, sim(id));
    Result result;
    result.start(ready, sample.schema);
    CHECK(result.wait().difference(sample) == "");
  }
  CHECK(late.calls() == 0);
  written.set();
  CHECK(late.wait().difference(sample) == "");
}

TEST_CASE("a copy that fails gives the array back, or releases it") {
  begin();
  const Sample sample(field("l"), {.rows = 60});
  const Sample other(field("u"), {.rows = 60});
  for (const bool takes_source : {true, false}) {
    Array there = copy(sample, sim(0));
    Result result;
    result.takes_source = takes_source;
    result.start(there, other.schema);
    CHECK(result.wait().error().code == EINVAL);
    CHECK(contains(result.error().message, "buffers"));
    CHECK(result.source().released() == !takes_source);
    if (takes_source) CHECK(difference(sample, *result.source()) == "");
    result.source().reset();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    CHECK(stats(default_pool(sim(0))).used_bytes == 0);
  }
}

TEST_CASE("a copy to the CPU fails if the work before it has failed") {
  begin();
  const Sample sample(field("l"), {.rows = 60});
  Held engine(0);
  Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  Result result;
  result.start(there, sample.schema);
  control::lose(0);
  engine.resume();
  CHECK(result.wait().error().code == EIO);
}

TEST_CASE("a copy to the CPU fails if the driver fails its wait, and gives the array back") {
  begin();
  const Sample sample(field("l"), {.rows = 60});
  Held engine(0);
  Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  Result result;
  result.start(there, sample.schema);
  // The thread for deferred work waits for the same queue, so a single failure might be its own.
  while (result.calls() == 0) {
    const int64_t before = control::failures_injected();
    control::fail_next("event_wait");
    while (control::failures_injected() == before && result.calls() == 0) std::this_thread::yield();
  }
  control::fail_no_more();
  engine.resume();
  CHECK(result.wait().error().code == EIO);
  CHECK(contains(result.error().message, "event_wait"));
  CHECK(difference(sample, *result.source()) == "");
}

TEST_CASE("the time-out of a copy to the CPU includes the wait for the array") {
  begin();
  const Sample sample(field("l"), {.rows = 60});
  for (const int64_t timeout_ns : {int64_t{2'000'000}, int64_t{ARROWDEVICE_POLL}}) {
    Held engine(0);
    Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
    auto options = copy_options();
    options.timeout_ns = timeout_ns;
    Result result;
    result.start(there, sample.schema, &options);
    CHECK(result.wait().error().code == ETIMEDOUT);
    CHECK_FALSE(result.source().released());
    result.source().reset();
    engine.resume();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    CHECK(stats(default_pool(sim(0))).used_bytes == 0);
  }
}

TEST_CASE("a copy to the CPU follows the work of a queue that is destroyed at once") {
  begin();
  const Sample sample(field("l"), {.rows = 60});
  Array first = copy(sample, sim(0));
  Array second = copy(sample, sim(0));
  Queue queue = make_queue(sim(1));
  Held engine(1);
  copy(*sample.host, *sample.schema, sim(1), ARROWDEVICE_COPY_ASYNC, queue.get()).reset();
  const auto options = copy_options(0, queue.get());
  Result result, later;
  result.start(first, sample.schema, &options);
  queue.reset();
  later.start(second, sample.schema);
  CHECK(later.wait().difference(sample) == "");
  CHECK(result.calls() == 0);  // else it had come first
  engine.resume();
  CHECK(result.wait().difference(sample) == "");
}

TEST_CASE("an asynchronous copy to the CPU that cannot start leaves its array alone") {
  begin();
  const Sample sample(field("l"), {.rows = 60});
  Array there = copy(sample, sim(0));
  Result result;
  const auto refuse = [&](int code, const char* text, const ArrowSchema* schema, arrowdevice_copy_options options,
                          decltype(&Result::done) done) {
    must_fail_saying(code, text, arrowdevice_array_to_host_async, there.get(), schema, &options, done, &result);
    CHECK_FALSE(there.released());
  };
  const Queue queue = make_queue(cpu());
  const Pool pool = make_pool(sim(0));
  refuse(EINVAL, "done", sample.schema.get(), copy_options(), nullptr);
  refuse(EINVAL, "schema", nullptr, copy_options(), &Result::done);
  refuse(EINVAL, "queue", sample.schema.get(), copy_options(0, queue.get()), &Result::done);
  refuse(EINVAL, "pool", sample.schema.get(), copy_options(0, nullptr, pool.get()), &Result::done);
  refuse(EINVAL, "flags", sample.schema.get(), copy_options(0x80), &Result::done);
  Array gone;
  must_fail(EINVAL, arrowdevice_array_to_host_async, gone.get(), sample.schema.get(), nullptr, &Result::done, &result);
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(result.calls() == 0);
}

TEST_CASE("the result of a copy to the CPU may start the next one, but not wait for all") {
  begin();
  const Sample sample(field("l"), {.rows = 60});
  Array first = copy(sample, sim(0));
  Array second = copy(sample, sim(0));
  int code = 0;
  Result last, result;
  result.also = [&] {
    code = arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr);
    last.start(second, sample.schema);
  };
  result.start(first, sample.schema);
  CHECK(result.wait().difference(sample) == "");
  CHECK(last.wait().difference(sample) == "");
  CHECK(code == EBUSY);
}

TEST_CASE("the release after a failed copy to the CPU cannot wait for all") {
  begin();
  static std::atomic<int> code = -1;
  static const void* buffers[] = {nullptr, nullptr};
  ArrowArray made{};
  made.n_buffers = 2;
  made.buffers = buffers;
  made.release = [](ArrowArray* array) {
    code = arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr);
    array->release = nullptr;
  };
  Array moved;
  must(arrowdevice_array_from_host, &made, moved.out());
  const Sample other(field("u"), {.rows = 60});
  Result result;
  result.takes_source = false;
  result.start(moved, other.schema);
  CHECK(result.wait().error().code == EINVAL);
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(code == EBUSY);
}

TEST_CASE("wait_idle waits for the results of copies to the CPU") {
  begin();
  Sample sample(field("l"), {.rows = 60});
  std::atomic<bool> has_begun = false, may_end = false;
  Result result;
  result.also = [&] {
    has_begun = true;
    may_end.wait(false);
  };
  result.start(sample.host, sample.schema);
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  while (!has_begun) std::this_thread::yield();
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  may_end = true;
  may_end.notify_all();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(result.calls() == 1);
}

TEST_CASE("a forked child makes copies while its parent's threads wait and copy") {
  begin();
  Sample sample(field("l"), {.rows = 60});
  Array first = share(sample.host);
  Array second = share(sample.host);
  std::atomic<bool> has_begun = false, may_end = false;
  Result running;
  running.also = [&] {
    has_begun = true;
    may_end.wait(false);
  };
  running.start(first, sample.schema);
  while (!has_begun) std::this_thread::yield();
  // The thread of another device waits for its next copy.
  Array there = copy(sample, sim(0));
  Result before;
  before.start(there, sample.schema);
  CHECK(before.wait().difference(sample) == "");
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    for (int i = 0; i < 5; ++i) {
      Array again = share(second);
      Result result;
      result.start(again, sample.schema);
      if (result.wait().difference(sample) != "") end_child(1);
    }
    end_child(0);
  }
  may_end = true;
  may_end.notify_all();
  CHECK(running.wait().difference(sample) == "");
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("in a forked child, arrays of the CPU still come with their results") {
  begin();
  Sample sample(field("l"), {.rows = 60});
  Array there = copy(sample, sim(0));
  Result before;
  Array other = copy(sample, sim(0));
  before.start(other, sample.schema);
  CHECK(before.wait().difference(sample) == "");
  const pid_t child = fork();
  if (child == 0) {
    Result result;
    if (arrowdevice_array_to_host_async(there.get(), sample.schema.get(), nullptr, &Result::done, &result, nullptr) !=
        ENODEV)
      end_child(1);
    result.start(sample.host, sample.schema);
    end_child(result.wait().difference(sample) == "" ? 0 : 2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

// A descriptor that is closed with this object.
class Descriptor {
 public:
  explicit Descriptor(const ArrowDeviceArray& array)
      : descriptor_(output_of(arrowdevice_array_open_eventfd, &array, nullptr)) {}
  ~Descriptor() { close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_readable(int timeout_ms) const {
    pollfd entry{descriptor_, POLLIN, 0};
    return poll(&entry, 1, timeout_ms) == 1;
  }

 private:
  int descriptor_;
};

TEST_CASE("a descriptor becomes readable when an array's event has fired or failed") {
  const Sample sample(field("l"), {.rows = 60});
  for (const bool fails : {false, true}) {
    begin();
    Held engine(0);
    const Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
    const Descriptor descriptor(*there);
    { const Descriptor closed_early(*there); }
    CHECK_FALSE(descriptor.is_readable(0));
    if (fails) control::lose(0);
    engine.resume();
    CHECK(descriptor.is_readable(-1));
    int ready = 0;
    CHECK(arrowdevice_array_is_ready(there.get(), nullptr, &ready, nullptr) == (fails ? EIO : 0));
  }
}

TEST_CASE("the descriptor of an array that is ready is readable at once") {
  begin();
  const Sample sample(field("l"), {.rows = 60});
  CHECK(Descriptor(*sample.host).is_readable(0));
  CHECK(Descriptor(*copy(sample, sim(0))).is_readable(0));
  Array gone;
  int descriptor = 0;
  must_fail(EINVAL, arrowdevice_array_open_eventfd, gone.get(), nullptr, &descriptor);
  CHECK(descriptor == -1);
}

}  // namespace
