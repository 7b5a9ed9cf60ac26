// SPDX-License-Identifier: Apache-2.0
// What a forked child finds as it was.
#include "base/process.h"

#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "support/catch.h"
#include "support/ending.h"

namespace {

namespace process = arrowdevice::process;

TEST_CASE("a process forks when nobody holds a mutex that its children need") {
  std::mutex first, second;
  const process::UsableAcrossFork keep_first(first), keep_second(second);
  std::atomic<bool> is_held{false};
  // Not to be joined: the child does not have it.
  std::thread([&] {
    const std::lock_guard lock(second);
    is_held = true;
    is_held.notify_one();
    // Time for the fork to begin. It is right without, but has nobody to wait for.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }).detach();
  is_held.wait(false);
  const pid_t child = fork();
  if (child == 0) arrowdevice::testing::end_child(first.try_lock() && second.try_lock() ? 0 : 1);
  const std::lock_guard the_other_is_done(second);
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
