// SPDX-License-Identifier: Apache-2.0
// Tests the locks that a forked child finds. The program replaces pthread_mutex_trylock to learn which locks
// a fork finds locked.
#include "base/process.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>

#include "support/catch.h"
#include "support/ending.h"

namespace {

std::atomic<pthread_mutex_t*> watched{nullptr};
std::atomic<bool> was_found_locked{false};

void ask_holder_to_unlock() {
  was_found_locked = true;
  was_found_locked.notify_all();
}

}  // namespace

extern "C" int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  using TryLock = decltype(&pthread_mutex_trylock);
  static const auto try_lock = reinterpret_cast<TryLock>(dlsym(RTLD_NEXT, "pthread_mutex_trylock"));
  const int code = try_lock(mutex);
  if (code == EBUSY && mutex == watched) ask_holder_to_unlock();
  return code;
}

namespace {

namespace process = arrowdevice::process;

TEST_CASE("a fork waits for the mutexes that the child needs") {
  std::mutex first, second;
  const process::UsableAcrossFork keep_first(first), keep_second(second);
  std::atomic<bool> is_held{false};
  // The thread is detached, because the child does not have it.
  std::thread([&] {
    const std::lock_guard lock(second);
    is_held = true;
    is_held.notify_one();
    was_found_locked.wait(false);
  }).detach();
  is_held.wait(false);
  watched = second.native_handle();
  const pid_t child = fork();
  if (child == 0) arrowdevice::testing::end_child(first.try_lock() && second.try_lock() ? 0 : 1);
  CHECK(was_found_locked);
  ask_holder_to_unlock();  // unlocks even if the fork did not try the lock
  const std::lock_guard the_other_is_done(second);
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
