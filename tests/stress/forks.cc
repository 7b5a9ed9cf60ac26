// SPDX-License-Identifier: Apache-2.0
// Programs that fork while they hold arrays. The child uses and releases arrays on the CPU as before. It
// drops arrays on devices without a call of the driver. This must not depend on other threads of the
// parent. The parent continues.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "leftovers.h"
#include "spy.h"

namespace {

using namespace stress;  // NOLINT: what every line of these programs is written with
namespace control = arrowdevice::sim::control;

bool is_child = false;

// If another thread is in the address sanitizer's allocator during a fork, the allocator stays locked in
// the child.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAllocatorSurvivesFork = false;
#elif defined(__has_feature)
constexpr bool kAllocatorSurvivesFork = !__has_feature(address_sanitizer);
#else
constexpr bool kAllocatorSurvivesFork = true;
#endif

}  // namespace

// Turns the leak checker off in a child, because objects that only the parent's other threads can reach
// look like leaks there.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return is_child ? 1 : 0; }

namespace {

constexpr int64_t kDevices = 4;

void start() {
  register_spy();
  // The library then needs no thread for deferred work. The devices' threads can be stopped.
  if (!kAllocatorSurvivesFork) must(arrowdevice_deferred_set_manual, 1);
}

// Forks while no other thread is in the allocator.
pid_t fork_while_devices_rest() {
  for (int64_t id = 0; id < kDevices; ++id) control::hold(id);
  const pid_t child = fork();
  for (const int64_t id : Leftovers::kReady) control::resume(id);
  return child;
}

// Runs `body` in a child. The child must return from it and end by exit(), with all its handlers.
void in_child(const std::function<void()>& body) {
  constexpr unsigned kLongestSeconds = 60;  // a child that takes longer hangs
  const pid_t child = kAllocatorSurvivesFork ? fork() : fork_while_devices_rest();
  check(child >= 0, "fork failed");
  if (child == 0) {
    is_child = true;
    alarm(kLongestSeconds);
    body();
    std::exit(0);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child, "waitpid failed");
  check(!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM, "a child hangs");
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child did not end well");
}

void start_held() {
  start();
  for (const int64_t id : Leftovers::kStuck) control::hold(id);
}

void use_the_cpu(const SampleRows& sample) {
  Array host = sample.array();
  Array copied = copy(*host, *sample.schema, cpu());
  Array second = share(host);
  host.reset();
  check_same(difference(sample, *copied));
  check_same(difference(sample, *second));
  auto* buffer = output_of(arrowdevice_buffer_allocate, cpu(), nullptr, nullptr, 100);
  arrowdevice_buffer_free(cpu(), nullptr, buffer);
}

void expect_no_device(arrowdevice_device* device, const SampleRows& sample, const ArrowDeviceArray& on_cpu) {
  arrowdevice_queue* queue = nullptr;
  must_fail(ENODEV, arrowdevice_queue_create, device, &queue);
  Array out;
  must_fail(ENODEV, arrowdevice_array_copy, &on_cpu, sample.schema.get(), device, nullptr, out.out());
  output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_EXT_DEV, 0);
}

// Uses the objects that a child has inherited.
void live_as_a_child(Leftovers& held) {
  SampleRows sample(batch());
  use_the_cpu(sample);
  Array& inherited = held.arrays().front();  // on the CPU
  check_same(difference(held.sample(), *inherited));
  Array second = share(inherited);
  expect_no_device(sim(0), sample, *inherited);
  int64_t done = -1;
  must(arrowdevice_deferred_run, -1, &done);
  check_equal(done, 0, "pieces of deferred work that a child ended");
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  second.reset();
  held.release();
  check_equal(held.live(), 0, "host arrays that are alive in a child");
}

// The parent's own objects are unchanged.
void live_as_the_parent(Leftovers& held) {
  for (const int64_t id : Leftovers::kStuck) control::resume(id);
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  check_equal(held.live_deferred(), 0, "deferred host arrays that are alive in the parent");
  check_same(difference(held.sample(), *held.arrays().front()));
  const SampleRows sample(batch());
  for (int64_t id = 0; id < kDevices; ++id)
    check_same(difference(sample, *copy(*sample.array(), *sample.schema, sim(id))));
  held.release();
  check_equal(held.live(), 0, "host arrays that are alive in the parent");
  check_equal(control::refused(), 0, "refused calls");
}

void children_release() {
  start_held();
  Leftovers held(true);
  for (int i = 0; i < 3; ++i) in_child([&] { live_as_a_child(held); });
  live_as_the_parent(held);
}

void children_forget() {
  start_held();
  Leftovers held(true);
  in_child([] {});
  live_as_the_parent(held);
}

void grandchildren() {
  start_held();
  Leftovers held(true);
  in_child([&] {
    in_child([&] { live_as_a_child(held); });
    live_as_a_child(held);
  });
  live_as_the_parent(held);
}

// Does work of every kind on other threads until the test stops it. It only calls the library. The tests'
// own ledgers take locks that a child could inherit in the locked state.
class DriverCallGuard {
 public:
  // Uses the pools of forgotten objects, to which children return memory.
  explicit DriverCallGuard(const Leftovers& held) : held_(held) {
    for (int i = 0; i < 2; ++i) begin([this](Array& source) { copy_on_the_cpu(source); });
    for (const int64_t id : Leftovers::kReady) begin([this, id](Array& source) { copy_to_and_fro(source, id); });
    for (const auto& rounds : rounds_) {
      while (rounds == 0) std::this_thread::yield();
    }
  }

  void end() {
    ending_ = true;
    for (auto& thread : threads_) thread.join();
  }

 private:
  static const SampleRows& sample() {
    static const auto* const made = new SampleRows(batch());
    return *made;
  }

  void copy_on_the_cpu(Array& source) {
    Array copied = copy(*source, *sample().schema, cpu(), 0, nullptr, held_.pool_of(cpu()));
    const Array second = share(copied);
    copied.reset();
    check_same(difference(sample(), *second));
    auto* buffer = output_of(arrowdevice_buffer_allocate, cpu(), nullptr, nullptr, 100);
    arrowdevice_buffer_free(cpu(), nullptr, buffer);
  }

  void copy_to_and_fro(Array& source, int64_t id) {
    auto* const queue = output_of(arrowdevice_queue_create, sim(id));
    Array host = copy(*source, *sample().schema, cpu());
    Array there = copy(*host, *sample().schema, sim(id), ARROWDEVICE_COPY_ASYNC, queue, held_.pool_of(sim(id)));
    auto* buffer = output_of(arrowdevice_buffer_allocate, sim(id), nullptr, nullptr, 100);
    arrowdevice_buffer_free(sim(id), nullptr, buffer);
    must(arrowdevice_array_release_after, host.get(), queue);
    Array second = share(there);
    must(arrowdevice_array_release_after, there.get(), queue);
    arrowdevice_queue_destroy(queue);
    check_same(difference(sample(), *second));
  }

  void begin(std::function<void(Array&)> body) {
    const size_t place = threads_.size();
    sources_[place] = sample().array();
    threads_.emplace_back([this, body = std::move(body), place] {
      for (; !ending_; ++rounds_[place]) body(sources_[place]);
    });
  }

  static constexpr size_t kThreads = 4;
  const Leftovers& held_;
  std::atomic<bool> ending_{false};
  std::atomic<int64_t> rounds_[kThreads]{};
  Array sources_[kThreads];
  std::vector<std::thread> threads_;
};

void fork_while_threads_work() {
  start_held();
  Leftovers held(true);
  DriverCallGuard busy(held);
  for (int i = 0; i < 30; ++i) in_child([&] { live_as_a_child(held); });
  busy.end();
  live_as_the_parent(held);
}

void children_of_a_cpu_program() {
  start();
  SampleRows sample(batch());
  Array inherited = sample.array();
  Array copied = copy(*inherited, *sample.schema, cpu());
  in_child([&] {
    check_same(difference(sample, *copied));
    const Array there = copy(*inherited, *sample.schema, sim(0));
    check_same(difference(sample, *there));
    in_child([&] { expect_no_device(sim(0), sample, *inherited); });  // a child whose parent has opened devices
    copied.reset();
    inherited.reset();
    check_equal(sample.ledger.live(), 0, "host arrays that are alive in the child");
  });
  check_same(difference(sample, *copy(*inherited, *sample.schema, sim(2))));
}

constexpr Scenario kScenarios[] = {
    {"children use and release what is on the CPU, and abandon what is on devices", children_release},
    {"children that release nothing end well", children_forget},
    {"children of children do as children do", grandchildren},
    {"children of a program that has used the CPU only open devices of their own", children_of_a_cpu_program},
};

// A separate Meson test, which is skipped if no program could do this.
constexpr Scenario kBusyScenarios[] = {
    {"children are as well when they are made while other threads work", fork_while_threads_work},
};
constexpr char kBusy[] = "--busy";

int play_busy(int argc, char** argv) {
  if (!kAllocatorSurvivesFork) {
    std::fprintf(stderr, "skipped: the address sanitizer's allocator stays locked in a child that was made while %s\n",
                 "another thread was in it");
    return 77;
  }
  return play(kBusyScenarios, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == kBusy) return play_busy(1, argv);
  const bool is_busy = argc == 2 && std::string(argv[1]) == kBusyScenarios[0].name;
  return is_busy ? play_busy(argc, argv) : play(kScenarios, argc, argv);
}
