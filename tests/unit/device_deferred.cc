// SPDX-License-Identifier: Apache-2.0
// Tests deferred work: releases that happen after an event has fired.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "device/deferred.h"
#include "library.h"
#include "support/blocking_call.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::testing::BlockingCall;

// A leak checker sees if the object cannot be reached any more.
TEST_CASE("an abandoned object is never destroyed") {
  static std::atomic<int> destroyed{0};
  const auto destroy = [](int* number) {
    ++destroyed;
    delete number;
  };
  arrowdevice::device::DeferredWork::abandon_object(std::unique_ptr<int, decltype(destroy)>(new int(1), destroy));
  CHECK(destroyed == 0);
}

TEST_CASE("arrays are released behind their queues' work, in whatever order the queues end") {
  int order[] = {0, 1, 2};
  do {
    begin();
    INFO("devices end in the order " << order[0] << order[1] << order[2]);
    std::vector<std::unique_ptr<Sample>> samples;
    std::vector<Queue> queues;
    for (int64_t id = 0; id < 3; ++id) {
      control::hold(id);
      samples.push_back(std::make_unique<Sample>(field("l"), Knobs{.rows = 20}));
      queues.push_back(make_queue(sim(id)));
    }
    for (size_t i = 0; i < 3; ++i) must(arrowdevice_array_release_after, samples[i]->host.get(), queues[i].get());
    for (const int id : order) {
      CHECK(samples[static_cast<size_t>(id)]->ledger.live() > 0);
      control::resume(id);
      // This array is released because its queue has finished. Other arrays still wait, even older arrays.
      while (samples[static_cast<size_t>(id)]->ledger.live() > 0) must(arrowdevice_deferred_run, -1, nullptr);
    }
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    for (const auto& sample : samples) CHECK(sample->ledger.live() == 0);
    CHECK(Ledger::mistakes() == 0);
  } while (std::next_permutation(std::begin(order), std::end(order)));
}

TEST_CASE("an array is released behind a queue even if the queue is destroyed or fails") {
  begin();
  Sample first(field("l")), second(field("l"));
  Queue queue = make_queue(sim(0));
  const Queue lost = make_queue(sim(1));
  Held engine(0);
  Held other(1);
  must(arrowdevice_array_release_after, first.host.get(), queue.get());
  queue.reset();
  CHECK(first.ledger.live() > 0);
  must(arrowdevice_array_release_after, second.host.get(), lost.get());
  control::lose(1);
  other.resume();
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(first.ledger.live() == 0);
  CHECK(second.ledger.live() == 0);
}

TEST_CASE("wait_idle waits for arrays, copies and buffers that are in flight") {
  begin();
  Sample moved(field("l")), later(field("l"));
  const Queue queue = make_queue(sim(0));
  Held engine(0);
  Array there;
  const auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  must(arrowdevice_array_to_device, moved.host.get(), moved.schema.get(), sim(0), &options, there.out());
  there.reset();
  must(arrowdevice_array_release_after, later.host.get(), queue.get());
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), nullptr, queue.get(), 100);
  arrowdevice_buffer_free(sim(0), queue.get(), buffer);
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  CHECK(stats(default_pool(sim(0))).used_bytes > 0);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(moved.ledger.live() == 0);
  CHECK(later.ledger.live() == 0);
  CHECK(stats(default_pool(sim(0))).used_bytes == 0);
}

// Lets the driver refuse to tell if work has ended.
void fail_queries(int64_t times) {
  for (int64_t n = 1; n <= times; ++n) {
    control::fail_nth("event_query", n, EBUSY);
    control::fail_nth("event_wait", n, EBUSY);
  }
}

TEST_CASE("memory is kept while the driver cannot tell if its work has ended") {
  constexpr int64_t kQueries = 200;
  begin();
  Sample moved(field("l")), released(field("l"));
  const Queue queue = make_queue(sim(0));
  Held engine(0);
  fail_queries(kQueries);
  static std::atomic<int> reports;
  reports = 0;
  arrowdevice_log_set_handler(
      [](void*, int, const char* message) {
        if (contains(message, "its memory is kept")) ++reports;
      },
      nullptr);
  Array there;
  const auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  must(arrowdevice_array_to_device, moved.host.get(), moved.schema.get(), sim(0), &options, there.out());
  there.reset();
  must(arrowdevice_array_release_after, released.host.get(), queue.get());
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), nullptr, queue.get(), 100);
  arrowdevice_buffer_free(sim(0), queue.get(), buffer);
  for (int round = 0; round < 5; ++round) {
    must(arrowdevice_deferred_run, -1, nullptr);
    CHECK(moved.ledger.live() > 0);
    CHECK(released.ledger.live() > 0);
    CHECK(stats(default_pool(sim(0))).used_bytes > 0);
  }
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, 1'000'000);
  CHECK(control::calls("event_query") < kQueries);  // there is a pause before the driver is asked again
  control::fail_no_more();
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(moved.ledger.live() == 0);
  CHECK(released.ledger.live() == 0);
  CHECK(stats(default_pool(sim(0))).used_bytes == 0);
  arrowdevice_log_set_handler(nullptr, nullptr);
  CHECK(reports == 1);  // once for a device
}

// The memory is freed when the call returns, so that the copy must not run any more.
TEST_CASE("a drain goes on while the driver cannot tell if work has ended") {
  constexpr int64_t kQueries = 20;
  begin();
  const Sample sample(mixed_batch(), {.rows = 20});
  const Queue queue = make_queue(sim(0));
  Held engine(0);
  control::fail_next("event_record");
  fail_queries(kQueries);
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), nullptr, queue.get(), 100);
  char bytes[100] = "";
  arrowdevice_copy_region region{};
  region.dst_device = sim(0);
  region.dst = buffer;
  region.src = bytes;
  region.size = sizeof bytes;
  must(arrowdevice_queue_copy, queue.get(), &region, 1);
  BlockingCall freeing([&] { arrowdevice_buffer_free(sim(0), queue.get(), buffer); });  // without an event, it drains
  CHECK(freeing.waits());
  engine.resume();
  freeing.join();
  CHECK(control::copies_in_flight(0) == 0);
}

TEST_CASE("a queue is not dropped while the driver cannot tell if its work has ended") {
  begin();
  const Sample sample(field("l"));
  Held engine(0);
  const Array first = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  const int64_t destroyed = control::calls("queue_destroy");
  const int64_t failures = control::failures_injected();
  control::fail_next("event_query", EBUSY);
  const Array second = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);  // asks if the queue of the first is idle
  CHECK(control::failures_injected() == failures + 1);
  CHECK(control::calls("queue_destroy") == destroyed);
  engine.resume();
  CHECK(difference(sample, *first) == "");
  CHECK(difference(sample, *second) == "");
}

// Defers releases behind work that has not begun.
std::vector<std::unique_ptr<Sample>> defer_releases(int64_t n, arrowdevice_queue* queue) {
  std::vector<std::unique_ptr<Sample>> samples;
  for (int64_t i = 0; i < n; ++i) {
    samples.push_back(std::make_unique<Sample>(field("c"), Knobs{.rows = 1, .nulls = Nulls::kNone}));
    must(arrowdevice_array_release_after, samples.back()->host.get(), queue);
  }
  return samples;
}

TEST_CASE("the driver is asked a constant number of times for each of many deferred items") {
  constexpr int64_t kItems = 10'000;
  constexpr int64_t kQueriesOfAnItem = 6;
  begin();
  const Queue queue = make_queue(sim(0));
  Held engine(0);
  const auto samples = defer_releases(kItems, queue.get());
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, 1'000'000);
  for (int i = 0; i < 100; ++i) must(arrowdevice_deferred_run, -1, nullptr);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  for (const auto& sample : samples) REQUIRE(sample->ledger.live() == 0);
  CHECK(control::calls("event_query") + control::calls("event_wait") < kQueriesOfAnItem * kItems);
}

TEST_CASE("the items of a queue that is stuck do not delay those of other queues") {
  begin();
  const Queue stuck = make_queue(sim(1));
  const Queue queue = make_queue(sim(0));
  Held other(1);
  Held engine(0);
  const auto waiting = defer_releases(5, stuck.get());
  const auto released = defer_releases(5, queue.get());
  engine.resume();
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_deferred_run, -1, nullptr);
  // The library's thread may be about to destroy one of them.
  while (std::ranges::any_of(released, [](const auto& sample) { return sample->ledger.live() > 0; }))
    std::this_thread::yield();
  for (const auto& sample : waiting) CHECK(sample->ledger.live() > 0);
  other.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  for (const auto& sample : waiting) CHECK(sample->ledger.live() == 0);
}

// An array whose release callback blocks until open() is called.
class BlockingRelease {
 public:
  ArrowDeviceArray array() {
    ArrowDeviceArray made{};
    made.device_type = ARROW_DEVICE_CPU;
    made.device_id = -1;
    made.array.private_data = this;
    made.array.release = [](ArrowArray* released) {
      auto& release = *static_cast<BlockingRelease*>(released->private_data);
      released->release = nullptr;
      release.is_reached_ = true;
      release.is_reached_.notify_all();
      release.is_open_.wait(false);
    };
    return made;
  }
  void wait_until_reached() const { is_reached_.wait(false); }
  void open() {
    is_open_ = true;
    is_open_.notify_all();
  }

 private:
  std::atomic<bool> is_reached_{false};
  std::atomic<bool> is_open_{false};
};

// Keeps the library's thread for deferred work in a release callback, so that it asks about no other work.
class BlockedThread {
 public:
  BlockedThread() {
    ArrowDeviceArray array = release_.array();
    const Queue queue = make_queue(sim(1));
    Held engine(1);
    must(arrowdevice_array_release_after, &array, queue.get());
    engine.resume();
    release_.wait_until_reached();
  }
  ~BlockedThread() {
    resume();
    arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr);
  }

  void resume() { release_.open(); }

 private:
  BlockingRelease release_;
};

TEST_CASE("a call that defers work destroys two earlier items that have finished") {
  begin();
  const Queue queue = make_queue(sim(0));
  BlockedThread thread;
  Held engine(0);
  const auto earlier = defer_releases(3, queue.get());
  engine.resume();
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  for (const auto& sample : earlier) CHECK(sample->ledger.live() > 0);
  const auto later = defer_releases(1, queue.get());
  CHECK(earlier[0]->ledger.live() == 0);
  CHECK(earlier[1]->ledger.live() == 0);
  CHECK(earlier[2]->ledger.live() > 0);
  thread.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(earlier[2]->ledger.live() == 0);
}

TEST_CASE("a call that defers work asks about the work of few queues") {
  constexpr size_t kQueues = 20;
  constexpr int64_t kMostQueries = 5;
  begin();
  BlockedThread thread;
  Held engine(0);
  std::vector<Queue> queues;
  std::vector<std::unique_ptr<Sample>> samples;
  for (size_t i = 0; i < kQueues; ++i) {
    queues.push_back(make_queue(sim(0)));
    samples.push_back(std::move(defer_releases(1, queues.back().get()).front()));
  }
  const int64_t queries = control::calls("event_query");
  samples.push_back(std::move(defer_releases(1, queues.front().get()).front()));
  CHECK(control::calls("event_query") - queries <= kMostQueries);
  thread.resume();
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  for (const auto& sample : samples) CHECK(sample->ledger.live() == 0);
}

TEST_CASE("a pool that lacks memory destroys deferred work that has finished") {
  constexpr int64_t kBytes = 1 << 20;
  begin();
  auto options = pool_options();
  options.max_bytes = kBytes;
  const Pool limited = make_pool(sim(0), &options);
  const Pool free = make_pool(sim(0));
  const Queue queue = make_queue(sim(0));
  const Sample sample(field("l"), {.rows = kBytes / 8, .nulls = Nulls::kNone});
  for (arrowdevice_pool* const pool : {limited.get(), free.get()}) {
    Array first = copy(*sample.host, *sample.schema, sim(0), copy_options(0, nullptr, pool));
    BlockedThread thread;
    Held engine(0);
    must(arrowdevice_array_release_after, first.get(), queue.get());
    engine.resume();
    must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
    CHECK(stats(pool).used_bytes == kBytes);
    if (pool == free.get()) control::fail_next("buffer_allocate", ENOMEM);
    void* const buffer = output_of(arrowdevice_buffer_allocate, sim(0), pool, nullptr, kBytes);
    CHECK(stats(pool).used_bytes == kBytes);
    arrowdevice_buffer_free(sim(0), nullptr, buffer);
  }
}

TEST_CASE("wait_idle without deferred work returns at once") {
  begin();
  must(arrowdevice_wait_idle, ARROWDEVICE_POLL);
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("a release may defer more work itself") {
  begin();
  Sample inner(field("l"));
  const Queue queue = make_queue(sim(0));
  struct State {
    ArrowDeviceArray inner;
    arrowdevice_queue* queue;
    int code = -1;
  } state{inner.host.take(), queue.get()};
  ArrowDeviceArray array{};
  array.device_type = ARROW_DEVICE_CPU;
  array.device_id = -1;
  array.array.private_data = &state;
  array.array.release = [](ArrowArray* released) {
    auto& of = *static_cast<State*>(released->private_data);
    of.code = arrowdevice_array_release_after(&of.inner, of.queue, nullptr);
    released->release = nullptr;
  };
  Held engine(0);
  must(arrowdevice_array_release_after, &array, queue.get());
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(state.code == 0);
  CHECK(inner.ledger.live() == 0);
}

}  // namespace
