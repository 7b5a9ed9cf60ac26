// SPDX-License-Identifier: Apache-2.0
// Tests queues.
#include <cerrno>

#include "conformance/bytes.h"

namespace arrowdevice::conformance {

namespace {

void comes_and_goes(Subject& subject) {
  std::vector<Queue> queues;
  for (int i = 0; i < 8; ++i) queues.push_back(subject.queue());
  for (const Queue& queue : queues) {
    finish(queue.get());
    // A poll may come too early, even without work, but some poll must succeed.
    for (int code = ETIMEDOUT; code != 0;) {
      code = arrowdevice_queue_finish(queue.get(), ARROWDEVICE_POLL, nullptr);
      expect(code == 0 || code == ETIMEDOUT, "a poll gave code " + std::to_string(code));
    }
  }
  arrowdevice_queue_destroy(nullptr);
}

void keeps_the_order(Subject& subject) {
  const Queue queue = subject.queue();
  const DeviceBuffer buffer(subject.device(), 10'000);
  Bytes received(10'000);
  Bytes last;
  std::vector<Bytes> sent;
  for (uint64_t i = 0; i < 20; ++i) sent.push_back(pattern(10'000, i));
  for (const Bytes& one : sent) {
    enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, one.data(), buffer.size())});
  }
  enqueue(queue.get(), {region_out(received.data(), subject.device(), buffer.get(), 0, buffer.size())});
  finish(queue.get());
  expect(received == sent.back(), "the work of one queue ran in another order");
}

void survives_its_queue(Subject& subject) {
  const HostCase& one = testing::find_case("record batch");
  Sample sample(one);
  Queue queue = subject.queue();
  auto there = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_ASYNC, queue.get());
  queue.reset();
  must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  sample.host.reset();
  auto back = subject.to_cpu(*there, *sample.schema);
  sample.expect_values(back->array);
}

void is_wrapped(Subject& subject) {
  const Queue queue = subject.queue();
  auto native = sized<arrowdevice_native_queue>();
  const int code = arrowdevice_queue_get_native(queue.get(), &native, nullptr);
  if (code == ENOTSUP) {
    // A backend supports both wrapping and the native handle, or neither.
    arrowdevice_queue* wrapped = nullptr;
    must_fail(ENOTSUP, arrowdevice_queue_wrap, subject.device(), &native, &wrapped);
    expect(wrapped == nullptr, "a refused queue was given");
    return;
  }
  expect(code == 0 && native.queue != nullptr, "the queue has no handle");
  auto* made = output_of(arrowdevice_queue_wrap, subject.device(), &native);
  Queue wrapped(made);
  auto again = output_of(arrowdevice_queue_get_native, wrapped.get());
  expect(again.queue == native.queue, "a wrapped queue has another handle than was wrapped");

  Sample sample(testing::find_case("record batch"));
  auto there = subject.copy(*sample.host, *sample.schema, subject.device(), 0, wrapped.get());
  auto back = subject.copy(*there, *sample.schema, subject.cpu(), 0, wrapped.get());
  sample.expect_values(back->array);
  // The array outlives the wrapped queue. The library must not use the queue after this.
  wrapped.reset();
  there.reset();
  finish(queue.get());
}

void carries_copies(Subject& subject) {
  const Queue queue = subject.queue();
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.copy(*sample.host, *sample.schema, subject.device(), 0, queue.get());
    auto back = subject.copy(*there, *sample.schema, subject.cpu(), 0, queue.get());
    sample.expect_values(back->array);
  });
}

}  // namespace

std::span<const Case> queue_cases() {
  static constexpr Case kCases[] = {
      {"queues are created, finished and destroyed", kNeedsNothing, comes_and_goes},
      {"a queue does its work in order", kNeedsNothing, keeps_the_order},
      {"work in flight survives its queue", kNeedsNothing, survives_its_queue},
      {"a queue supports both get_native and wrap, or neither", kNeedsNothing, is_wrapped},
      {"arrays are copied on a queue of the caller", kNeedsNothing, carries_copies},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance
