// SPDX-License-Identifier: Apache-2.0
// Tests several threads that use one device.
#include <mutex>
#include <thread>

#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

constexpr int kThreads = 4;

// Runs `body` on several threads. The first failure ends the case.
void on_threads(const std::function<void(int)>& body) {
  std::mutex mutex;
  std::string first;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      try {
        body(i);
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        if (first.empty()) first = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect(first.empty(), first);
}

void copies_from_many_threads(Subject& subject) {
  on_threads([&](int number) {
    for (const HostCase& one : testing::few_cases()) {
      Sample sample(one);
      const uint32_t flags = number % 2 == 0 ? 0 : ARROWDEVICE_COPY_ASYNC;
      auto there = subject.copy(*sample.host, *sample.schema, subject.device(), flags);
      auto second = subject.share(*there);
      const int64_t rows = sample.twin->length;
      auto slice = subject.slice(*second, *sample.schema, {rows / 4, rows / 2});
      second.reset();
      auto back = subject.to_cpu(*there, *sample.schema);
      sample.expect_values(back->array);
      auto part = subject.to_cpu(*slice, *sample.schema);
      sample.expect_values(part->array, rows / 4);
    }
  });
}

void reads_one_array_from_many_threads(Subject& subject) {
  for (const HostCase& one : testing::few_cases()) {
    Sample sample(one);
    auto there = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_ASYNC);
    on_threads([&](int) {
      auto back = subject.to_cpu(*there, *sample.schema);
      sample.expect_values(back->array);
      must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    });
  }
}

void releases_owners_on_many_threads(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    Owned<ArrowDeviceArray> owners[kThreads];
    for (Owned<ArrowDeviceArray>& owner : owners) owner = subject.share(*sample.host);
    sample.host.reset();
    expect(sample.ledger.released() == 0, "the producer's release ran before the last owner's");
    on_threads([&](int number) { owners[number].reset(); });
    expect(sample.ledger.live() == 0, "the last owner did not release everything");
  });
}

}  // namespace

std::span<const Case> thread_cases() {
  static constexpr Case kCases[] = {
      {"several threads copy to one device and back", kNeedsNothing, copies_from_many_threads},
      {"several threads read one array", kNeedsNothing, reads_one_array_from_many_threads},
      {"owners of one memory are released on several threads", kNeedsNothing, releases_owners_on_many_threads},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance
