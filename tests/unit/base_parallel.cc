// SPDX-License-Identifier: Apache-2.0
// Tests work that several threads share.
#include "base/parallel.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "support/catch.h"
#include "support/ending.h"
#include "sysfs.h"

namespace {

namespace parallel = arrowdevice::parallel;

constexpr size_t kThreads = 3;

// Throws if the system does not say, because other threads than the test's call this.
cpu_set_t processors_here() {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) throw std::runtime_error("unknown processors");
  return processors;
}

// Runs a call in which all threads take part. Returns the processors of each thread, by the number of the thread in the
// system, because a new thread may get the std::thread::id of one that has ended.
std::map<pid_t, cpu_set_t> threads_of_a_call(int node = -1, const char* sysfs = arrowdevice::numa::kSysfs) {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<pid_t, cpu_set_t> here;
  const auto body = [&] {
    std::unique_lock lock(mutex);
    here.emplace(gettid(), processors_here());
    changed.notify_all();
    changed.wait(lock, [&] { return here.size() == kThreads; });
  };
  parallel::run(static_cast<int>(kThreads), body, node, sysfs);
  return here;
}

std::set<pid_t> helpers_of_a_call() {
  std::set<pid_t> helpers;
  for (const auto& [thread, processors] : threads_of_a_call()) helpers.insert(thread);
  helpers.erase(gettid());
  return helpers;
}

// Returns true if all helper threads of a call on a node use these processors, and the caller uses its own as before.
bool helpers_use(const cpu_set_t& processors, int node, const arrowdevice::testing::Sysfs& sysfs) {
  const cpu_set_t before = processors_here();
  bool is_right = true;
  for (const auto& [thread, used] : threads_of_a_call(node, sysfs.path().c_str())) {
    is_right = is_right && CPU_EQUAL(&used, thread == gettid() ? &before : &processors);
  }
  const cpu_set_t after = processors_here();
  return is_right && CPU_EQUAL(&before, &after);
}

bool is_alive(pid_t thread) { return std::filesystem::exists("/proc/self/task/" + std::to_string(thread)); }

TEST_CASE("shared work runs each piece once, and all pieces before the call returns") {
  for (const int threads : {0, 1, 2, 5}) {
    for (const size_t pieces : {size_t{0}, size_t{1}, size_t{1'000}}) {
      std::vector<std::atomic<int>> done(pieces);
      std::atomic<size_t> next{0};
      parallel::run(threads, [&] {
        for (size_t i = next++; i < pieces; i = next++) ++done[i];
      });
      for (const auto& times : done) REQUIRE(times == 1);
    }
  }
}

TEST_CASE("the requested number of threads work, including the caller") {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::thread::id> here;
  parallel::run(3, [&] {
    std::unique_lock lock(mutex);
    here.insert(std::this_thread::get_id());
    changed.notify_all();
    changed.wait(lock, [&] { return here.size() == 3; });
  });
  CHECK(here.contains(std::this_thread::get_id()));
}

TEST_CASE("an exception of a thread reaches the caller after all have returned") {
  for (const bool leads : {true, false}) {
    INFO(leads);
    const auto caller = std::this_thread::get_id();
    std::atomic<int> inside{0};
    std::atomic<bool> has_thrown{false};
    CHECK_THROWS_AS(parallel::run(2,
                                  [&] {
                                    ++inside;
                                    while (inside < 2 && !has_thrown) std::this_thread::yield();
                                    if ((std::this_thread::get_id() == caller) == leads) {
                                      has_thrown = true;
                                      --inside;
                                      throw std::runtime_error("a piece failed");
                                    }
                                    while (!has_thrown) std::this_thread::yield();
                                    --inside;
                                  }),
                    std::runtime_error);
    CHECK(inside == 0);
  }
}

TEST_CASE("a call uses the helper threads of the call before") {
  // On a busy machine, more than the idle time may pass between two calls.
  constexpr int kMostAttempts = 50;
  bool are_same = false;
  for (int attempt = 0; attempt < kMostAttempts && !are_same; ++attempt) {
    const auto before = helpers_of_a_call();
    REQUIRE(before.size() == kThreads - 1);
    are_same = helpers_of_a_call() == before;
  }
  CHECK(are_same);
}

TEST_CASE("a call starts threads while the helper threads of other calls are busy") {
  std::set<pid_t> inner;
  const auto caller = gettid();
  std::atomic<int> outside{0};
  std::atomic<bool> is_done{false};
  helpers_of_a_call();
  parallel::run(static_cast<int>(kThreads), [&] {
    ++outside;
    while (outside < static_cast<int>(kThreads)) std::this_thread::yield();
    if (gettid() == caller) {
      inner = helpers_of_a_call();
      is_done = true;
    }
    while (!is_done) std::this_thread::yield();
  });
  CHECK(inner.size() == kThreads - 1);
}

TEST_CASE("helper threads that no call needs end") {
  constexpr auto kPatience = std::chrono::seconds(30);
  const auto helpers = helpers_of_a_call();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::ranges::any_of(helpers, is_alive) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  CHECK(std::ranges::none_of(helpers, is_alive));
}

TEST_CASE("a forked child starts helper threads of its own") {
  constexpr unsigned kLongestSeconds = 30;
  helpers_of_a_call();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kLongestSeconds);  // ends a child that waits for the threads of its parent
    const bool is_right = helpers_of_a_call().size() == kThreads - 1;
    arrowdevice::testing::end_child(is_right ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(helpers_of_a_call().size() == kThreads - 1);
}

TEST_CASE("helper threads use the processors of the node, and the caller keeps its own") {
  const cpu_set_t allowed = processors_here();
  size_t first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  cpu_set_t only_first;
  CPU_ZERO(&only_first);
  CPU_SET(first, &only_first);
  const arrowdevice::testing::Sysfs sysfs;
  sysfs.write("devices/system/node/node0/cpulist", std::to_string(first) + "\n");
  sysfs.write("devices/system/node/node1/cpulist", std::to_string(CPU_SETSIZE - 1) + "\n");
  REQUIRE(!CPU_ISSET(CPU_SETSIZE - 1, &allowed));
  CHECK(helpers_use(only_first, 0, sysfs));
  CHECK(helpers_use(allowed, -1, sysfs));  // the same threads, if they have not ended
  CHECK(helpers_use(only_first, 0, sysfs));
  CHECK(helpers_use(allowed, 1, sysfs));  // the process may use no processor of the node
  CHECK(helpers_use(allowed, 2, sysfs));  // there is no such node
}

TEST_CASE("the environment chooses the number of copy threads") {
  ::unsetenv("ARROWDEVICE_COPY_THREADS");
  CHECK(parallel::read_copy_threads() >= 1);
  CHECK(parallel::read_copy_threads() <= 8);
  ::setenv("ARROWDEVICE_COPY_THREADS", "12", 1);
  CHECK(parallel::read_copy_threads() == 12);
  ::setenv("ARROWDEVICE_COPY_THREADS", "0", 1);
  CHECK_THROWS_AS(parallel::read_copy_threads(), arrowdevice::Error);
  ::unsetenv("ARROWDEVICE_COPY_THREADS");
}

}  // namespace
