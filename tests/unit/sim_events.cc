// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "sim_table.h"

using namespace sim_test;

TEST_CASE("simulated device: a copy is pending until the engine runs it", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  const Buffer buffer(device, 1000);
  const Queue queue(device);
  auto source = sample(1000);

  control::hold(0);
  queue.copy(to_device(buffer, source.data()));
  const Event event = queue.record();
  CHECK(control::copies_in_flight(0) == 1);
  CHECK_FALSE(event.ready());
  CHECK(event.wait(ARROWDEVICE_POLL) == ETIMEDOUT);
  CHECK(content(0, buffer) != source);
  // The copy reads the source when it runs, so it sees this change.
  source[0] = std::byte{200};

  control::resume(0);
  CHECK(event.wait() == 0);
  CHECK(control::copies_in_flight(0) == 0);
  CHECK(event.ready());
  CHECK(content(0, buffer) == source);
}

TEST_CASE("simulated device: a queue runs its work in order", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  const Buffer buffer(device, 4096);
  const Queue queue(device);
  const auto first = sample(4096);
  std::vector<std::byte> second(4096, std::byte{7}), between_both(4096);

  control::hold(0);
  queue.copy(to_device(buffer, first.data()));
  queue.copy(to_host(between_both.data(), buffer));
  const Event event = queue.record();
  queue.copy(to_device(buffer, second.data()));
  control::resume(0);
  CHECK(event.wait() == 0);
  CHECK(between_both == first);
  CHECK(queue.finish() == 0);
  CHECK(content(0, buffer) == second);
}

TEST_CASE("simulated device: an event of another device holds up one queue and no other", "[sim]") {
  control::reset(devices("aa"));
  void* first = open(0);
  void* second = open(1);
  const Buffer source(first, 256), target(second, 256);
  const Queue producer(first), consumer(second), bystander(second);
  const auto bytes = sample(256);

  control::hold(0);
  producer.copy(to_device(source, bytes.data()));
  const Event produced = producer.record();
  consumer.wait(produced);
  consumer.copy(between(target, source));
  const Event consumed = consumer.record();

  CHECK(bystander.finish() == 0);  // the second device's engine is not held
  CHECK_FALSE(consumed.ready());
  control::resume(0);
  CHECK(consumed.wait() == 0);
  CHECK(content(1, target) == bytes);
}

TEST_CASE("simulated device: work that waits for a destroyed event still waits", "[sim]") {
  control::reset(devices("aa"));
  const Queue producer(open(0)), consumer(open(1));
  control::hold(0);
  {
    const Event produced = producer.record();
    consumer.wait(produced);
  }
  const Event consumed = consumer.record();
  const Queue bystander(open(1));
  CHECK(bystander.finish() == 0);
  CHECK_FALSE(consumed.ready());
  control::resume(0);
  CHECK(consumed.wait() == 0);
}

TEST_CASE("simulated device: a destroyed queue finishes its work", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  const Buffer buffer(device, 64);
  const auto source = sample(64);
  control::hold(0);
  const Event event = [&] {
    const Queue queue(device);
    queue.copy(to_device(buffer, source.data()));
    return queue.record();
  }();
  CHECK(control::counters(0).queues_live == 0);
  control::resume(0);
  CHECK(event.wait() == 0);
  CHECK(content(0, buffer) == source);
}

TEST_CASE("simulated device: an import takes the pointer of a published event", "[sim]") {
  control::reset(devices("aa"));
  const Queue queue(open(0));
  control::hold(0);
  const Event event = queue.record();
  auto* sync_event = output_of(table().event_publish, event.get());

  // An application may store the native event in its own variable.
  void* native = *static_cast<void**>(sync_event);
  Event imported;
  must(table().event_import, open(1), &native, imported.out());
  CHECK(control::counters(1).events_imported == 1);
  CHECK(control::counters(1).events_live == 1);
  CHECK_FALSE(imported.ready());
  control::resume(0);
  CHECK(imported.wait() == 0);
}

TEST_CASE("simulated device: a pointer that is not a published event is refused", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  const Buffer buffer(device, 64);
  const Queue queue(device);
  void* out = nullptr;
  void* dangling = nullptr;
  {
    const Event event = queue.record();
    dangling = event.get();
    CHECK(contains(message(table().event_import, device, event.get(), &out), "is an event, not a pointer to one"));
  }
  CHECK(code(table().event_import, device, nullptr, &out) == EINVAL);
  CHECK(code(table().event_import, device, &dangling, &out) == EINVAL);
  CHECK(code(table().event_import, device, reinterpret_cast<char*>(&dangling) + 1, &out) == EINVAL);
  CHECK(code(table().event_import, device, buffer.get(), &out) == EINVAL);
  int ready = 0;
  CHECK(code(table().event_query, dangling, &ready) == EINVAL);
  CHECK(control::refused() == 6);
}

TEST_CASE("simulated device: a test's own event is pending until it is set", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  const Queue queue(device), bystander(device);
  control::UserEvent user;
  Event imported;
  must(table().event_import, device, user.sync_event(), imported.out());
  queue.wait(imported);
  const Event after = queue.record();
  CHECK(bystander.finish() == 0);
  CHECK_FALSE(imported.ready());
  CHECK_FALSE(after.ready());
  user.set();
  CHECK(after.wait() == 0);
  CHECK(imported.ready());
}

TEST_CASE("simulated device: a failed event fails the work that waits for it", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  const Buffer buffer(device, 64);
  const auto untouched = content(0, buffer);
  const auto source = sample(64);
  const Queue queue(device), bystander(device);
  control::UserEvent user;
  Event imported;
  must(table().event_import, device, user.sync_event(), imported.out());
  queue.wait(imported);
  queue.copy(to_device(buffer, source.data()));
  const Event after = queue.record();
  user.fail();
  CHECK(after.wait() == EIO);
  int ready = 0;
  CHECK(code(table().event_query, after.get(), &ready) == EIO);
  CHECK(code(table().event_query, imported.get(), &ready) == EIO);
  CHECK(content(0, buffer) == untouched);
  CHECK(queue.finish() == EIO);  // the queue stays failed
  CHECK(bystander.finish() == 0);

  control::reset(devices("a"));
  CHECK(queue.finish() == 0);
}

TEST_CASE("simulated device: a loss ends a copy that latency or bandwidth keeps pending", "[sim]") {
  auto configuration = devices("a");
  SECTION("latency") { configuration.devices[0].latency_us = int64_t{3600} * 1000 * 1000; }
  SECTION("bandwidth") { configuration.devices[0].bandwidth = 1; }
  control::reset(configuration);
  void* device = open(0);
  const Buffer buffer(device, 3600);
  const auto untouched = content(0, buffer);
  const auto source = sample(3600);
  const Queue queue(device);
  queue.copy(to_device(buffer, source.data()));
  const Event event = queue.record();
  CHECK(event.wait(1000) == ETIMEDOUT);
  control::lose(0);
  CHECK(event.wait() == EIO);
  CHECK(content(0, buffer) == untouched);
  control::reset();
}

TEST_CASE("simulated device: a held copy takes its whole time after the hold", "[sim]") {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kBytes = 60'000;  // 60 ms
  auto configuration = devices("aa");
  for (auto& one : configuration.devices) one.bandwidth = 1'000'000;
  control::reset(configuration);
  void* held = open(0);
  void* other = open(1);
  const Buffer target(held, kBytes), elsewhere(other, kBytes);
  const auto source = sample(kBytes);
  const Queue queue(held), clock(other);
  control::hold(0);
  queue.copy(to_device(target, source.data()));
  const Event event = queue.record();
  // Waits as long as the held copy would take.
  clock.copy(to_device(elsewhere, source.data()));
  CHECK(clock.finish() == 0);
  const auto resumed = Clock::now();
  control::resume(0);
  CHECK(event.wait() == 0);
  // Checks only a lower bound, because load on the machine cannot break it.
  CHECK(Clock::now() - resumed >= std::chrono::milliseconds(60));
  control::reset();
}

TEST_CASE("simulated device: threads work on one device, each with a queue of its own", "[sim]") {
  control::reset(devices("h"));
  void* device = open(0);
  constexpr int kThreads = 4, kRounds = 50;
  std::vector<int> matching(kThreads, 0);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      // Calls the table directly, because the macros of the test framework are not thread-safe.
      const arrowdevice_backend& t = table();
      arrowdevice_error error{};
      void* queue = nullptr;
      t.queue_create(device, &queue, &error);
      for (int round = 0; round < kRounds; ++round) {
        const std::vector<std::byte> bytes(512, static_cast<std::byte>(thread * kRounds + round));
        std::vector<std::byte> seen(512);
        void* buffer = nullptr;
        void* event = nullptr;
        t.buffer_allocate(device, queue, 512, 64, &buffer, &error);
        const arrowdevice_backend_region in{device, buffer, 0, nullptr, bytes.data(), 0, 512, 0};
        const arrowdevice_backend_region out{nullptr, seen.data(), 0, device, buffer, 0, 512, 0};
        t.queue_copy(queue, &in, 1, &error);
        t.queue_copy(queue, &out, 1, &error);
        t.event_record(queue, &event, &error);
        t.buffer_free(device, queue, buffer);
        t.event_wait(event, ARROWDEVICE_NO_TIMEOUT, &error);
        t.event_destroy(event);
        matching[static_cast<size_t>(thread)] += seen == bytes ? 1 : 0;
      }
      t.queue_destroy(queue);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int rounds : matching) CHECK(rounds == kRounds);
  const auto counted = control::counters(0);
  CHECK(counted.copies == 2 * kThreads * kRounds);
  CHECK(counted.allocations_live + counted.events_live + counted.queues_live == 0);
  CHECK(control::refused() == 0);
}
