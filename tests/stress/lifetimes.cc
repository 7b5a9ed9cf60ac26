// SPDX-License-Identifier: Apache-2.0
// Objects that are released in every order: queues and pools before their arrays, arrays behind queues,
// owners on many threads. No object may be lost or released twice, and no object may remain in the end.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "program.h"
#include "spy.h"

namespace {

using namespace stress;  // NOLINT: what every line of these programs is written with
namespace control = arrowdevice::sim::control;

constexpr int64_t kDevices[] = {0, 2};  // with addresses, with handles

// Checks that the driver has the same objects as before, except those that are cached for reuse.
class Baseline {
 public:
  Baseline() {
    for (const int64_t id : kDevices) {  // the library's own queues and its pool
      const SampleRows sample(batch());
      copy(*sample.array(), *sample.schema, sim(id));
    }
    for (size_t i = 0; i < std::size(kDevices); ++i) before_[i] = now(kDevices[i]);
  }

  void check_reached() {
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    for (size_t i = 0; i < std::size(kDevices); ++i) {
      const auto after = now(kDevices[i]);
      check_equal(after.allocations_live, before_[i].allocations_live, "allocations that are alive");
      check_equal(after.sub_buffers_live, before_[i].sub_buffers_live, "sub-buffers that are alive");
    }
    check_equal(control::refused(), 0, "refused calls");
  }

 private:
  static arrowdevice::sim::Counters now(int64_t id) {
    auto* pool = output_of(arrowdevice_device_get_pool, sim(id));
    must(arrowdevice_pool_trim, pool);
    return control::counters(id);
  }

  arrowdevice::sim::Counters before_[std::size(kDevices)];
};

// An allocator of the application that counts, and detects calls in the wrong order.
class CountedPool {
 public:
  explicit CountedPool(int64_t id) : device_(sim(id)) {
    auto options = sized<arrowdevice_pool_options>();
    options.max_cached_bytes = -1;
    options.user = this;
    options.allocate = [](void* user, int64_t size, int64_t, void*, void** out) {
      auto* const self = static_cast<CountedPool*>(user);
      ++self->live;
      return arrowdevice_buffer_allocate(self->device_, nullptr, nullptr, size, out, nullptr);
    };
    options.deallocate = [](void* user, void* buffer, int64_t, void*) {
      auto* const self = static_cast<CountedPool*>(user);
      check(self->destroyed == 0, "memory was given back to a pool that was destroyed");
      arrowdevice_buffer_free(self->device_, nullptr, buffer);
      --self->live;
    };
    options.destroy = [](void* user) { ++static_cast<CountedPool*>(user)->destroyed; };
    must(arrowdevice_pool_create, device_, &options, &pool);
  }

  arrowdevice_pool* pool = nullptr;
  std::atomic<int64_t> live{0};
  std::atomic<int64_t> destroyed{0};

 private:
  arrowdevice_device* const device_;
};

// -- queues and pools are destroyed before their arrays

void queues_go_before_their_arrays() {
  register_spy();
  Baseline baseline;
  const SampleRows sample(batch());
  for (const int64_t id : kDevices) {
    const Array host = sample.array();
    auto* const queue = output_of(arrowdevice_queue_create, sim(id));
    const Array ready = copy(*host, *sample.schema, sim(id), 0, queue);
    control::hold(id);
    const Array pending = copy(*host, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC, queue);
    arrowdevice_queue_destroy(queue);
    int is_ready = 1;
    must(arrowdevice_array_is_ready, pending.get(), nullptr, &is_ready);
    check_equal(is_ready, 0, "whether a pending array is ready");
    control::resume(id);
    must(arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    check_same(difference(sample, *ready));
    check_same(difference(sample, *pending));
  }
  baseline.check_reached();
}

void pools_go_before_their_arrays() {
  register_spy();
  Baseline baseline;
  const SampleRows sample(batch());
  for (const int64_t id : kDevices) {
    CountedPool counted(id);
    Array host = sample.array();
    Array ready = copy(*host, *sample.schema, sim(id), 0, nullptr, counted.pool);
    control::hold(id);
    Array pending = copy(*host, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC, nullptr, counted.pool);
    Array early = copy(*host, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC, nullptr, counted.pool);
    arrowdevice_pool_destroy(counted.pool);
    early.reset();  // released before its event, so the memory remains until then
    check_equal(counted.live, 3, "allocations of a pool that was destroyed");
    check_equal(counted.destroyed, 0, "pools that are gone");
    control::resume(id);
    check_same(difference(sample, *ready));
    check_same(difference(sample, *pending));
    ready.reset();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    check_equal(counted.live, 1, "allocations of a pool that was destroyed");
    check_equal(counted.destroyed, 0, "pools that are gone");
    Array part = output_of(arrowdevice_array_slice, pending.get(), sample.schema.get(), 1, 3);
    pending.reset();
    check_equal(counted.destroyed, 0, "pools that are gone");
    part.reset();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    check_equal(counted.live, 0, "allocations of a pool that was destroyed");
    check_equal(counted.destroyed, 1, "pools that are gone");
  }
  baseline.check_reached();
}

// Later calls would fail, because the driver never reuses its handles.
void wrapped_queues_are_not_touched_again() {
  register_spy();
  Baseline baseline;
  const SampleRows sample(batch());
  const auto* const driver = control::table();
  for (const int64_t id : kDevices) {
    auto native_device = output_of(arrowdevice_device_get_native, sim(id));
    arrowdevice_error error{};
    void* own = nullptr;
    check(driver->queue_create(native_device.device, &own, &error) == 0, "the driver made no queue");
    const arrowdevice_native_queue native{.struct_size = sizeof native, .family = 0, .queue = own};
    auto* queue = output_of(arrowdevice_queue_wrap, sim(id), &native);
    const Array host = sample.array();
    control::hold(id);
    Array first = copy(*host, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC, queue);
    Array second = copy(*host, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC, queue);
    Array deferred = sample.array();
    must(arrowdevice_array_release_after, deferred.get(), queue);
    auto* buffer = output_of(arrowdevice_buffer_allocate, sim(id), nullptr, queue, 100);
    arrowdevice_buffer_free(sim(id), queue, buffer);
    arrowdevice_queue_destroy(queue);
    driver->queue_destroy(own);
    first.reset();
    control::resume(id);
    check_same(difference(sample, *second));
    second.reset();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  }
  check_equal(sample.ledger.live(), 0, "host arrays that are alive");
  baseline.check_reached();
}

// -- every order

enum Step { kReleaseAfter, kDestroyQueue, kDestroyPool, kFire, kReleaseShare, kSteps };

// The kinds of objects that are released behind the queue.
enum Kind { kHostArray, kReadyArray, kPendingArray, kView, kKinds };

void play_order(int64_t id, Kind kind, const std::array<Step, kSteps>& order) {
  const SampleRows sample(batch());
  CountedPool counted(id);
  auto* queue = output_of(arrowdevice_queue_create, sim(id));
  Array source = sample.array();
  Array ready = copy(*source, *sample.schema, sim(id), 0, queue, counted.pool);
  control::hold(id);
  Array array = kind == kHostArray ? sample.array()
                : kind == kPendingArray
                    ? copy(*source, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC, queue, counted.pool)
                    : std::move(ready);
  if (kind == kPendingArray || kind == kHostArray) {
    ready.reset();
  } else {
    must(arrowdevice_queue_wait_array, queue, array.get(), nullptr);
  }
  // Work on the queue that is pending after every release.
  Array busy = copy(*source, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC, queue);
  Array second = share(array);
  arrowdevice_view* view = nullptr;
  if (kind == kView) must(arrowdevice_array_import, array.get(), sample.schema.get(), nullptr, &view);

  bool fired = false, shared = true, given = false;
  for (const Step step : order) {
    switch (step) {
      case kReleaseAfter:
        if (view != nullptr) {
          must(arrowdevice_view_release_after, view, queue);
        } else {
          must(arrowdevice_array_release_after, array.get(), queue);
          check(array.released(), "an array that was released behind a queue is not marked released");
        }
        given = true;
        break;
      case kDestroyQueue: arrowdevice_queue_destroy(queue); break;
      case kDestroyPool: arrowdevice_pool_destroy(counted.pool); break;
      case kFire:
        control::resume(id);
        must(arrowdevice_array_wait, busy.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
        fired = true;
        break;
      case kReleaseShare:
        if (fired) check_same(difference(sample, *second));
        second.reset();
        shared = false;
        break;
      case kSteps: break;
    }
    const bool must_live = !fired || shared || !given;
    if (must_live && kind != kHostArray) check(counted.live > 0, "the memory went before its last owner and event");
    if (must_live && kind == kHostArray)
      check(sample.ledger.live() > 0, "the array went before its last owner and event");
  }
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  source.reset();
  check_equal(sample.ledger.live(), 0, "host arrays that are alive");
  check_equal(counted.live, 0, "allocations of a pool that was destroyed");
  check_equal(counted.destroyed, 1, "pools that are gone");
}

void every_order() {
  register_spy();
  Baseline baseline;
  int64_t orders = 0;
  std::array<Step, kSteps> order{kReleaseAfter, kDestroyQueue, kDestroyPool, kFire, kReleaseShare};
  do {
    // A release behind a queue needs the queue.
    if (std::ranges::find(order, kDestroyQueue) < std::ranges::find(order, kReleaseAfter)) continue;
    ++orders;
    for (const int64_t id : kDevices) {
      for (int kind = 0; kind < kKinds; ++kind) play_order(id, static_cast<Kind>(kind), order);
    }
  } while (std::ranges::next_permutation(order).found);
  check_equal(orders, 60, "orders");
  baseline.check_reached();
}

// -- many threads

void children_and_shares_go_on_many_threads() {
  register_spy();
  Baseline baseline;
  constexpr int kThreads = 8;
  Field type = struct_of({}).not_null();
  for (int i = 0; i < kThreads; ++i) type.children.push_back(list_of(field("u")).named("column"));
  for (int round = 0; round < 20; ++round) {
    const SampleRows sample(type);
    for (arrowdevice_device* device : {static_cast<arrowdevice_device*>(nullptr), cpu(), sim(0), sim(2)}) {
      const Array source = device == nullptr ? Array() : sample.array();
      const uint32_t flags = round % 2 == 0 ? 0 : ARROWDEVICE_COPY_ASYNC;
      Array array = device == nullptr ? sample.array() : copy(*source, *sample.schema, device, flags);
      std::vector<Array> shares;
      for (int i = 0; i < kThreads; ++i) shares.push_back(share(array));
      std::vector<ArrowArray> children;
      for (int i = 0; i < kThreads; ++i) {
        children.push_back(*array->array.children[i]);
        array->array.children[i]->release = nullptr;
      }
      on_threads(kThreads + 1, [&](int i) {
        if (i == kThreads) return array.reset();
        const auto place = static_cast<size_t>(i);
        children[place].release(&children[place]);
        shares[place].reset();
      });
      must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    }
    check_equal(sample.ledger.live(), 0, "host arrays that are alive");
  }
  baseline.check_reached();
}

// Starts threads that wait for or release a pending array, and end.
void threads_that_never_saw_the_library() {
  register_spy();
  Baseline baseline;
  const SampleRows sample(batch());
  for (const int64_t id : kDevices) {
    constexpr int kThreads = 48;
    const Array host = sample.array();
    auto* const queue = output_of(arrowdevice_queue_create, sim(id));
    control::hold(id);
    std::vector<Array> arrays;
    for (int i = 0; i < kThreads; ++i) {
      arrays.push_back(copy(*host, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC, queue));
    }
    arrowdevice_queue_destroy(queue);
    std::atomic<int> begun{0};
    std::thread resumer([&] {
      while (begun < kThreads) std::this_thread::yield();
      control::resume(id);
    });
    on_threads(kThreads, [&](int i) {
      ++begun;
      Array& mine = arrays[static_cast<size_t>(i)];
      if (i % 3 == 0) must(arrowdevice_array_wait, mine.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
      if (i % 3 == 1) {
        int ready = 0;
        while (ready == 0) {
          must(arrowdevice_array_is_ready, mine.get(), nullptr, &ready);
          std::this_thread::yield();
        }
      }
      if (i % 3 != 2) check_same(difference(sample, *mine));
      mine.reset();
    });
    resumer.join();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  }
  check_equal(sample.ledger.live(), 0, "host arrays that are alive");
  baseline.check_reached();
}

// -- deferred work

void manual_deferred_work() {
  must(arrowdevice_deferred_set_manual, 1);
  register_spy();
  Baseline baseline;
  const SampleRows sample(field("l"));
  constexpr int kPieces = 200;
  auto* const queue = output_of(arrowdevice_queue_create, sim(0));
  control::hold(0);
  for (int i = 0; i < kPieces; ++i) must(arrowdevice_array_release_after, sample.array().get(), queue);
  must_fail(EBUSY, arrowdevice_deferred_set_manual, 0);
  int64_t done = -1;
  must(arrowdevice_deferred_run, -1, &done);
  check_equal(done, 0, "pieces ended before their event");
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  control::resume(0);
  must(arrowdevice_queue_finish, queue, ARROWDEVICE_NO_TIMEOUT);
  arrowdevice_queue_destroy(queue);
  check_equal(sample.ledger.live(), kPieces, "host arrays whose release is still deferred");
  must(arrowdevice_deferred_run, 7, &done);
  check_equal(done, 7, "pieces ended");
  std::atomic<int64_t> all{0};
  on_threads(4, [&](int) {
    int64_t mine = output_of(arrowdevice_deferred_run, -1);
    all += mine;
  });
  must(arrowdevice_deferred_run, -1, &done);  // deferred work that a thread held while another thread ran it
  check_equal(all + done, kPieces - 7, "pieces ended by several threads");
  check_equal(sample.ledger.live(), 0, "host arrays that are alive");
  baseline.check_reached();
}

void quiescing_from_many_threads() {
  register_spy();
  Baseline baseline;
  const SampleRows sample(batch());
  for (const int64_t id : kDevices) {
    auto* const queue = output_of(arrowdevice_queue_create, sim(id));
    control::hold(id);
    for (int i = 0; i < 50; ++i) must(arrowdevice_array_release_after, sample.array().get(), queue);
    arrowdevice_queue_destroy(queue);
    must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
    must_fail(ETIMEDOUT, arrowdevice_wait_idle, 1000);
    check_equal(sample.ledger.live() > 0, 1, "whether what is pending is alive");
    on_threads(5, [&](int i) {
      if (i == 0) return control::resume(id);
      must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
      check_equal(sample.ledger.live(), 0, "host arrays that are alive after quiescing");
    });
  }
  baseline.check_reached();
}

constexpr Scenario kScenarios[] = {
    {"queues may go before their arrays, pending ones too", queues_go_before_their_arrays},
    {"pools may go before their arrays, and end with the last of them", pools_go_before_their_arrays},
    {"wrapped queues are not touched after they were destroyed", wrapped_queues_are_not_touched_again},
    {"releases behind a queue, the ends of queue and pool, the event and the last share come in any order",
     every_order},
    {"children and shares of one array are released on many threads", children_and_shares_go_on_many_threads},
    {"threads that never saw the library wait for events and release", threads_that_never_saw_the_library},
    {"several threads run manual deferred work, and each release runs once", manual_deferred_work},
    {"several threads wait_idle, and return when nothing is deferred", quiescing_from_many_threads},
};

}  // namespace

int main(int argc, char** argv) { return play(kScenarios, argc, argv); }
