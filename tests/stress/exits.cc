// SPDX-License-Identifier: Apache-2.0
// Programs that end while they hold arrays, views, queues and pools, some of them pending. They must end
// without an error, must not call a driver after its shutdown, and must free host memory that is released
// late.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "leftovers.h"
#include "spy.h"

namespace {

using namespace stress;  // NOLINT: what every line of these programs is written with
namespace control = arrowdevice::sim::control;

// Leak checkers can reach these objects, and no code destroys them.
Leftovers* kept;
SampleRows* many;

void start_spied() {
  register_spy();
  for (const int64_t id : Leftovers::kStuck) control::hold(id);
}

void at_exit(void (*function)()) { check(std::atexit(function) == 0, "no room for an exit handler"); }

void release_kept(const char* when) {
  kept->release();
  check_equal(kept->live(), 0, when);
  delete kept;
  kept = nullptr;
}

// -- never released

void never_released() {
  start_spied();
  kept = new Leftovers(true);
}

// Uses the plugin like an application. The plugin's variables block devices 1 and 3.
void never_released_of_plugin() { kept = new Leftovers(true); }

void never_released_and_many_pending() {
  start_spied();
  kept = new Leftovers(true);
  many = new SampleRows(field("l"));
  auto* const queue = output_of(arrowdevice_queue_create, sim(1));
  for (int i = 0; i < 1000; ++i) must(arrowdevice_array_release_after, many->array().get(), queue);
  arrowdevice_queue_destroy(queue);
}

// -- released late

// The handler is registered before the library was used. It therefore runs after all handlers of the
// library and the driver.
void released_by_an_early_handler() {
  at_exit([] {
    const int64_t calls = driver_calls();
    const int64_t deferred = kept->live_deferred();
    check(deferred > 0, "nothing was deferred");
    release_kept("host arrays that are alive after a late release");
    check_equal(driver_calls(), calls, "calls of a driver that has shut down");
    arrowdevice_queue* queue = nullptr;
    must_fail(ENODEV, arrowdevice_queue_create, sim(0), &queue);
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    SampleRows sample(batch());
    check_same(difference(sample, *copy(*sample.array(), *sample.schema, cpu())));  // the CPU works until the end
  });
  start_spied();
  kept = new Leftovers(true);
}

// The handler is registered after the library was used. It therefore runs first, when the library still
// works.
void released_by_a_late_handler() {
  start_spied();
  kept = new Leftovers(true);
  at_exit([] {
    for (const int64_t id : Leftovers::kStuck) control::resume(id);
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    check_equal(kept->live_deferred(), 0, "deferred host arrays that are alive");
    const SampleRows& sample = kept->sample();
    for (const int64_t id : Leftovers::kReady)
      check_same(difference(sample, *copy(*sample.array(), *sample.schema, sim(id))));
    release_kept("host arrays that are alive");
    check_equal(control::refused(), 0, "refused calls");
  });
}

// The handler is registered between the first device and the last. When it runs, the library has noticed
// the exit, but the driver has not.
void released_by_a_handler_in_between() {
  register_spy();
  copy(*SampleRows(batch()).array(), *SampleRows(batch()).schema, sim(0));
  at_exit([] {
    const int64_t calls = driver_calls();
    release_kept("host arrays that are alive after a late release");
    check_equal(driver_calls(), calls, "calls of a driver after exit has begun");
  });
  for (const int64_t id : Leftovers::kStuck) control::hold(id);
  kept = new Leftovers(true);
}

struct ReleasedAtTheEnd {
  ~ReleasedAtTheEnd() {
    if (held == nullptr) return;
    held->release();
    check_equal(held->live(), 0, "host arrays that are alive after static destructors");
  }
  std::unique_ptr<Leftovers> held;
};

ReleasedAtTheEnd early_static;  // constructed before the library was used, destroyed after it noticed the exit

void released_by_static_destructors() {
  start_spied();
  early_static.held = std::make_unique<Leftovers>(true);
  static ReleasedAtTheEnd late_static;
  late_static.held = std::make_unique<Leftovers>(true);
  thread_local ReleasedAtTheEnd of_thread;
  of_thread.held = std::make_unique<Leftovers>(true);
}

bool exit_has_begun() {
  arrowdevice_queue* queue = nullptr;
  const int code = arrowdevice_queue_create(sim(0), &queue, nullptr);
  arrowdevice_queue_destroy(queue);
  return code == ENODEV;
}

// A foreign array of device memory whose second owner is released late. Its release would call the driver,
// so the library does not call it.
struct Foreign {
  void* device_memory;
  const void* buffers[2];
  static void release(ArrowArray* array) {
    check(!exit_has_begun(), "a producer on a device is called after exit has begun");
    auto* const self = static_cast<Foreign*>(array->private_data);
    arrowdevice_buffer_free(sim(0), nullptr, self->device_memory);
    delete self;
    array->release = nullptr;
  }
};

Array foreign_array() {
  auto* const foreign = new Foreign{};
  must(arrowdevice_buffer_allocate, sim(0), nullptr, nullptr, 800, &foreign->device_memory);
  foreign->buffers[1] = foreign->device_memory;
  ArrowArray array{};
  array.length = 100;
  array.n_buffers = 2;
  array.buffers = foreign->buffers;
  array.release = Foreign::release;
  array.private_data = foreign;
  return output_of(arrowdevice_array_export, sim(0), &array, nullptr);
}

Array* shared_foreign;

void foreign_arrays_are_abandoned() {
  at_exit([] {
    const int64_t calls = driver_calls();
    delete[] shared_foreign;
    shared_foreign = nullptr;
    check_equal(driver_calls(), calls, "calls of a driver that has shut down");
  });
  start_spied();
  shared_foreign = new Array[3];
  shared_foreign[0] = foreign_array();
  shared_foreign[1] = share(shared_foreign[0]);
  Array array = foreign_array();
  auto* const queue = output_of(arrowdevice_queue_create, sim(1));
  must(arrowdevice_array_release_after, array.get(), queue);
  arrowdevice_queue_destroy(queue);
}

// -- exit begins while the thread of deferred work runs

// Blocks the library's thread in its query of the work before a release, until exit has begun.
template <int kAnswer>
void hold_up_query() {
  static const auto main_thread = std::this_thread::get_id();
  static std::atomic<bool> is_asking{false};
  before_each_query([] {
    if (std::this_thread::get_id() == main_thread || exit_has_begun()) return 0;
    is_asking = true;
    while (!exit_has_begun()) std::this_thread::yield();
    return kAnswer;
  });
  while (!is_asking) std::this_thread::yield();
}

arrowdevice_queue* defer_behind_device_1(Array array) {
  auto* const queue = output_of(arrowdevice_queue_create, sim(1));
  must(arrowdevice_array_release_after, array.get(), queue);
  return queue;
}

// The library then does not call the producer, and its objects stay reachable for leak checkers.
void exit_between_an_event_and_its_release() {
  start_spied();
  auto* const queue = defer_behind_device_1(foreign_array());
  hold_up_query<0>();
  control::resume(1);
  must(arrowdevice_queue_finish, queue, int64_t{ARROWDEVICE_NO_TIMEOUT});  // so that the query finds it fired
  arrowdevice_queue_destroy(queue);
}

// The query fails, so the work may still read the memory.
void exit_while_an_event_cannot_be_asked() {
  at_exit([] { check_equal(many->ledger.live(), 1, "host arrays that are alive while a device reads them"); });
  start_spied();
  many = new SampleRows(field("l"));
  arrowdevice_queue_destroy(defer_behind_device_1(many->array()));
  hold_up_query<EIO>();
}

void exit_while_deferred_work_ends() {
  start_spied();
  many = new SampleRows(field("l"));
  auto* const queue = output_of(arrowdevice_queue_create, sim(1));
  for (int i = 0; i < 500; ++i) {
    Array host = many->array();
    Array on_device = copy(*host, *many->schema, sim(1), ARROWDEVICE_COPY_ASYNC, queue);
    must(arrowdevice_array_release_after, on_device.get(), queue);
    must(arrowdevice_array_release_after, host.get(), queue);
  }
  arrowdevice_queue_destroy(queue);
  at_exit([] { control::resume(1); });
}

// The exit runs on the thread of deferred work, so the library cannot wait for that thread.
void exit_in_a_deferred_release() {
  start_spied();
  kept = new Leftovers(true);
  ArrowArray array{};
  array.release = [](ArrowArray*) { std::exit(0); };
  Array host = output_of(arrowdevice_array_from_host, &array);
  auto* const queue = output_of(arrowdevice_queue_create, sim(1));
  must(arrowdevice_array_release_after, host.get(), queue);
  arrowdevice_queue_destroy(queue);
  control::resume(1);
  for (;;) pause();
}

// -- other threads

void exit_on_another_thread() {
  start_spied();
  kept = new Leftovers(true);
  std::thread([] { std::exit(0); }).join();
}

void exit_while_threads_wait() {
  start_spied();
  kept = new Leftovers(true);
  static std::atomic<int> begun{0};
  constexpr int kThreads = 4;
  static SampleRows* const sample = new SampleRows(batch());
  static Array* const source = new Array(sample->array());
  static Array* const pending = new Array(copy(**source, *sample->schema, sim(1), ARROWDEVICE_COPY_ASYNC));
  for (int i = 0; i < kThreads; ++i) {
    std::thread([] {
      ++begun;
      arrowdevice_array_wait(pending->get(), nullptr, ARROWDEVICE_NO_TIMEOUT, nullptr);
    }).detach();
  }
  while (begun < kThreads) std::this_thread::yield();
}

void exit_while_threads_copy_on_the_cpu() {
  start_spied();
  kept = new Leftovers(true);
  static std::atomic<int> copied{0};
  constexpr int kThreads = 4;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([] {
      auto* const sample = new SampleRows(batch());
      auto* const source = new Array(sample->array());
      for (;;) {
        Array made = copy(**source, *sample->schema, cpu());
        share(*source);
        ++copied;
      }
    }).detach();
  }
  while (copied < kThreads) std::this_thread::yield();
}

constexpr Scenario kScenarios[] = {
    {"a program that releases nothing ends well, whatever is pending", never_released},
    {"a program that releases nothing of a plugin's devices ends well", never_released_of_plugin},
    {"a program ends well while a thousand arrays wait for their release", never_released_and_many_pending},
    {"an exit handler older than the library releases everything without calling the driver",
     released_by_an_early_handler},
    {"an exit handler younger than the devices works with them and releases everything", released_by_a_late_handler},
    {"an exit handler older than the last device releases everything without calling the driver",
     released_by_a_handler_in_between},
    {"destructors of static and thread-local objects release everything", released_by_static_destructors},
    {"foreign arrays on devices are abandoned after exit has begun", foreign_arrays_are_abandoned},
    {"exit may begin between an event and what is released after it", exit_between_an_event_and_its_release},
    {"what a device may still read is not released as exit begins", exit_while_an_event_cannot_be_asked},
    {"exit may begin while deferred work ends", exit_while_deferred_work_ends},
    {"exit may be called by a deferred release", exit_in_a_deferred_release},
    {"exit may be called on another thread than main", exit_on_another_thread},
    {"exit does not wait for threads that wait for an event", exit_while_threads_wait},
    {"exit does not disturb threads that copy on the CPU", exit_while_threads_copy_on_the_cpu},
};

}  // namespace

int main(int argc, char** argv) { return play(kScenarios, argc, argv); }
