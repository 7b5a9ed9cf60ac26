// SPDX-License-Identifier: Apache-2.0
// Interruptions: signals that arrive during a wait, and slow releases of producers.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "program.h"
#include "spy.h"

namespace {

using namespace stress;  // NOLINT: what every line of these programs is written with
namespace control = arrowdevice::sim::control;
using Clock = std::chrono::steady_clock;

constexpr int64_t kShort = 100'000'000;  // nanoseconds

// -- signals

sem_t handled;

// Sends signals to a thread, without SA_RESTART. Each signal is sent when the previous one was handled.
class Signals {
 public:
  Signals() : target_(pthread_self()) {
    struct sigaction action {};
    action.sa_handler = [](int) { sem_post(&handled); };
    check(sem_init(&handled, 0, 0) == 0 && sigaction(SIGUSR1, &action, nullptr) == 0, "no handler for signals");
  }
  ~Signals() { sem_destroy(&handled); }
  Signals(const Signals&) = delete;

  // Sends a signal. The caller is a thread other than the constructor's.
  void send() const {
    pthread_kill(target_, SIGUSR1);
    while (sem_wait(&handled) != 0) continue;
  }

 private:
  const pthread_t target_;
};

// Calls `wait` while device 0 is held. The device resumes when the wait has begun and was interrupted
// several times.
void interrupted(const std::function<void()>& wait) {
  constexpr int kEnough = 20;
  const int64_t waits_before = control::calls("event_wait");
  const Signals signals;
  std::thread sender([&] {
    while (control::calls("event_wait") == waits_before) std::this_thread::yield();
    for (int i = 0; i < kEnough; ++i) signals.send();
    control::resume(0);
  });
  wait();
  sender.join();
}

void waits_go_on() {
  register_spy();
  const SampleRows sample(batch());
  const Array host = sample.array();
  auto* const queue = output_of(arrowdevice_queue_create, sim(0));
  const auto pending = [&] {
    control::hold(0);
    return copy(*host, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC, queue);
  };
  {
    const Array array = pending();
    interrupted([&] { must(arrowdevice_array_wait, array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT); });
    check_same(difference(sample, *array));
  }
  {
    const Array array = pending();
    interrupted([&] { must(arrowdevice_queue_finish, queue, ARROWDEVICE_NO_TIMEOUT); });
    check_same(difference(sample, *array));
  }
  {
    const Array array = pending();
    interrupted([&] { check_same(difference(sample, *array)); });  // copies it to the host
  }
  {
    Array array = pending();
    must(arrowdevice_array_release_after, array.get(), queue);
    interrupted([&] { must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT); });
  }
  arrowdevice_queue_destroy(queue);
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  check_equal(control::refused(), 0, "refused calls");
}

void time_outs_do_not_come_early() {
  register_spy();
  const SampleRows sample(batch());
  const Array host = sample.array();
  control::hold(0);
  const Array array = copy(*host, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC);
  {
    const Signals signals;
    std::atomic<bool> is_over{false};
    std::thread sender([&] {
      while (!is_over) signals.send();
    });
    const auto begin = Clock::now();
    must_fail_once(ETIMEDOUT, arrowdevice_array_wait, array.get(), nullptr, kShort);
    check(Clock::now() - begin >= std::chrono::nanoseconds(kShort), "a wait ended before its time");
    is_over = true;
    sender.join();
  }
  control::resume(0);
  must(arrowdevice_array_wait, array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  check_same(difference(sample, *array));
}

// -- slow releases

// Blocks a producer's release until the test allows it, and wraps another array.
struct SlowRelease {
  ArrowArray inner;
  std::promise<void> began;
  std::shared_future<void> may_end;
  std::atomic<int>* ends;
};

void release_slowly(ArrowArray* array) {
  auto* const slow = static_cast<SlowRelease*>(array->private_data);
  slow->began.set_value();
  slow->may_end.wait();
  slow->inner.release(&slow->inner);
  ++*slow->ends;
  array->release = nullptr;
  delete slow;
}

// An array whose producer blocks in its release until the test allows it to return.
struct SlowArray {
  SlowArray(const SampleRows& sample, const std::shared_future<void>& may_end, std::atomic<int>* ends)
      : array(sample.array()) {
    auto* const slow = new SlowRelease{array->array, {}, may_end, ends};
    began = slow->began.get_future();
    array->array.release = release_slowly;
    array->array.private_data = slow;
  }

  Array array;
  std::future<void> began;
};

// Does the work of other threads meanwhile on the same devices.
void work(const SampleRows& sample) {
  const Array host = sample.array();
  for (const int64_t id : {0, 2}) {
    const Array there = copy(*host, *sample.schema, sim(id), ARROWDEVICE_COPY_ASYNC);
    must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    check_same(difference(sample, *there));
    auto* pool = output_of(arrowdevice_device_get_pool, sim(id));
    must(arrowdevice_pool_trim, pool);
  }
}

void others_work_meanwhile() {
  register_spy();
  const SampleRows sample(batch());
  std::atomic<int> ends{0};
  // The array is released by its owner, by its last share, by to_device, and by a copy that was its last
  // user.
  const std::function<void(Array&)> ways[] = {
      [](Array& array) { array.reset(); },
      [](Array& array) {
        Array last = share(array);
        array.reset();
        last.reset();
      },
      [&](Array& array) {
        Array there = output_of(arrowdevice_array_to_device, array.get(), sample.schema.get(), sim(0),
                                static_cast<const arrowdevice_copy_options*>(nullptr));
      },
      [&](Array& array) {
        const Array there = copy(*array, *sample.schema, sim(2), ARROWDEVICE_COPY_ASYNC);
        array.reset();
      },
  };
  for (const auto& way : ways) {
    std::promise<void> may_end;
    SlowArray slow(sample, may_end.get_future().share(), &ends);
    std::thread owner([&] { way(slow.array); });
    slow.began.wait();
    work(sample);
    const int before = ends;
    may_end.set_value();
    owner.join();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    check_equal(ends - before, 1, "ends of a slow release");
  }
  check_equal(sample.ledger.live(), 0, "host arrays that are alive");
  check_equal(Ledger::mistakes(), 0, "arrays that were released twice");
}

// A release that is deferred behind pending work runs on a thread of the library.
void deferred_releases_do_not_hold_up_others() {
  register_spy();
  const SampleRows sample(batch());
  const Array host = sample.array();
  const int64_t live = sample.ledger.live();
  std::atomic<int> ends{0};
  std::promise<void> may_end;
  SlowArray slow(sample, may_end.get_future().share(), &ends);
  auto* const queue = output_of(arrowdevice_queue_create, sim(0));
  control::hold(0);
  const Array pending = copy(*host, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC, queue);
  must(arrowdevice_array_release_after, slow.array.get(), queue);
  control::resume(0);
  slow.began.wait();
  work(sample);
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, kShort);
  check_equal(ends, 0, "ends of a slow release");
  may_end.set_value();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  check_equal(ends, 1, "ends of a slow release");
  arrowdevice_queue_destroy(queue);
  check_equal(sample.ledger.live(), live, "host arrays that are alive");
}

constexpr Scenario kScenarios[] = {
    {"waits go on after signals, and come to their end", waits_go_on},
    {"a time-out does not come early for a signal", time_outs_do_not_come_early},
    {"while a producer releases, others work", others_work_meanwhile},
    {"while a deferred release takes its time, others work, and quiescing waits for it",
     deferred_releases_do_not_hold_up_others},
};

}  // namespace

int main(int argc, char** argv) { return play(kScenarios, argc, argv); }
