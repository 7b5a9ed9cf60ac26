// SPDX-License-Identifier: Apache-2.0
// Tests streams that have their own threads: the thread of each call, cancelling, and releasing streams with
// pending work.
#include <condition_variable>
#include <mutex>

#include "stream_producer.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

constexpr uint32_t kReadAhead = ARROWDEVICE_STREAM_READ_AHEAD;

// A door that blocks callers until it is opened.
class Door {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_someone() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

// Returns a producer that blocks in call number `call` until the door opens.
std::shared_ptr<Producer> stuck_at(int64_t call, Door& door, const Sample& sample) {
  auto producer = batches_of(sample, kRows);
  producer->on_next = [call, &door](int64_t made) {
    if (made == call) door.pass();
  };
  return producer;
}

TEST_CASE("one thread of the stream reads ahead, at most up to the depth") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  auto producer = batches_of(sample, kRows);
  DeviceStream stream = to_device(stream_of(producer), sim(0), stream_options(kReadAhead, 3));
  const Array first = next(stream);
  until([&] { return producer->calls == 4; });  // the returned batch and three more
  CHECK(producer->called_elsewhere);
  CHECK(difference(sample, *first) == "");
  CHECK(difference_of_rest(sample, kRows, stream, kRows) == "");
  CHECK_FALSE(producer->overlapped);
}

TEST_CASE("a cancel from another thread wakes a waiting consumer, and repeats") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  Door door;
  auto producer = stuck_at(1, door, sample);
  DeviceStream stream = to_device(stream_of(producer), sim(0), stream_options(kReadAhead));
  next(stream);
  bool cancelled = false;  // no assertions on other threads
  std::thread canceller([&] {
    door.wait_for_someone();
    cancelled =
        arrowdevice_stream_cancel(stream.get(), nullptr) == 0 && arrowdevice_stream_cancel(stream.get(), nullptr) == 0;
  });
  CHECK(contains(next_fails(ECANCELED, stream), "cancelled"));
  canceller.join();
  CHECK(cancelled);
  CHECK(next_fails(ECANCELED, stream) != "");
  stream.reset();  // returns although the producer still blocks
  CHECK(producer->releases == 0);
  door.open();
  until([&] { return producer->releases == 1; });
  CHECK(producer->calls == 2);
}

TEST_CASE("a cancel passes upstream through the streams of the library") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  Door door;
  auto producer = stuck_at(0, door, sample);
  DeviceStream stream = to_device(stream_of(producer), sim(0), stream_options(kReadAhead));
  stream = to_device(std::move(stream), sim(1));
  bool cancelled = false;  // no assertions on other threads
  std::thread canceller([&] {
    door.wait_for_someone();
    cancelled = arrowdevice_stream_cancel(stream.get(), nullptr) == 0;
  });
  next_fails(ECANCELED, stream);
  canceller.join();
  CHECK(cancelled);
  door.open();
  stream.reset();
  until([&] { return producer->releases == 1; });
}

TEST_CASE("a cancel refuses foreign and released streams") {
  begin();
  const Sample sample(field("i"), {.rows = 21});
  DeviceStream foreign = stream_of(batches_of(sample, kRows)), released;
  must_fail(EINVAL, arrowdevice_stream_cancel, foreign.get());
  must_fail(EINVAL, arrowdevice_stream_cancel, released.get());
  must_fail(EINVAL, arrowdevice_stream_cancel, nullptr);
}

TEST_CASE("a stream that is cancelled before its first batch does not call the producer") {
  begin();
  const Sample sample(field("i"), {.rows = 21});
  auto producer = batches_of(sample, kRows);
  DeviceStream stream = to_device(stream_of(producer), sim(0));
  must(arrowdevice_stream_cancel, stream.get());
  next_fails(ECANCELED, stream);
  CHECK(producer->calls == 0);
}

TEST_CASE("an early release of a stream returns at once, and pending work ends later") {
  const Sample sample(field("l"), {.rows = 60});  // the copy reads no data back
  for (const Peers peers : {Peers::kCopy, Peers::kNone}) {
    begin(configuration(peers));
    for (const uint32_t flags : {0u, kReadAhead}) {
      INFO("flags " << flags);
      const int64_t used = stats(default_pool(sim(0))).used_bytes;
      auto producer = batches_of(sample, kRows, sim(1));
      Held engine(0);
      DeviceStream stream = to_device(stream_of(producer, ARROW_DEVICE_EXT_DEV), sim(0), stream_options(flags, 4));
      if (peers == Peers::kCopy) CHECK(is_ready(*next(stream)) == 0);
      stream.reset();
      until([&] { return producer->releases == 1; });
      engine.resume();
      must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
      until([&] { return stats(default_pool(sim(0))).used_bytes == used; });
    }
  }
}

TEST_CASE("a release does not block while the producer blocks the reading thread") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  Door door;
  auto producer = stuck_at(2, door, sample);
  DeviceStream stream = to_device(stream_of(producer), sim(0), stream_options(kReadAhead, 8));
  CHECK(difference(sample, *next(stream)) == "");
  door.wait_for_someone();
  stream.reset();
  CHECK(producer->releases == 0);
  door.open();
  until([&] { return producer->releases == 1; });
  CHECK(producer->calls == 3);
}

TEST_CASE("staged batches are copied while the consumer's own thread reads") {
  begin(configuration(Peers::kNone));
  const Sample sample(mixed_batch(), {.rows = 60});
  auto producer = batches_of(sample, kRows, sim(1));
  DeviceStream stream = to_device(stream_of(producer, ARROW_DEVICE_EXT_DEV), sim(2), stream_options(0, 3));
  CHECK(difference_of_rest(sample, kRows, stream) == "");
  CHECK_FALSE(producer->called_elsewhere);
  CHECK_FALSE(producer->overlapped);
}

TEST_CASE("a stream keeps its device from being unwrapped") {
  begin();
  char context = 0;
  auto native = sized<arrowdevice_native_device>();
  native.context = &context;
  auto* device = output_of(arrowdevice_device_wrap, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, 0, &native);
  const Sample sample(field("i"), {.rows = 21});
  DeviceStream stream = to_device(stream_of(batches_of(sample, kRows)), device);
  must_fail(EBUSY, arrowdevice_device_unwrap, device, ARROWDEVICE_POLL);
  CHECK(difference_of_rest(sample, kRows, stream) == "");
  stream.reset();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_device_unwrap, device, ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("a source device can be unwrapped under a stream, which then fails") {
  begin();
  char context = 0;
  auto native = sized<arrowdevice_native_device>();
  native.context = &context;
  auto* device = output_of(arrowdevice_device_wrap, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, 0, &native);
  const Sample sample(field("i"), {.rows = 21});
  auto options = stream_options();
  options.source_device = device;
  DeviceStream stream = to_device(stream_of(batches_of(sample, kRows, sim(0)), ARROW_DEVICE_EXT_DEV), sim(1), options);
  must(arrowdevice_device_unwrap, device, ARROWDEVICE_NO_TIMEOUT);
  CHECK(contains(next_fails(ENODEV, stream), "unwrapped"));
}

}  // namespace
