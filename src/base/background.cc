// SPDX-License-Identifier: Apache-2.0
#include "base/background.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/condition_variable.h"
#include "base/error.h"
#include "base/process.h"

namespace arrowdevice::background {
namespace {

// The time that `exit` waits for threads to leave a driver.
constexpr auto kExitPatience = std::chrono::seconds(2);

// The library's threads. Created before the first thread, and never destroyed, because threads run until the process
// ends. A forked child has none of the threads, but may start its own.
struct Workers {
  std::mutex mutex;
  ConditionVariable changed;
  int busy = 0;
  pid_t process = getpid();

  static Workers& instance() {
    static auto* const workers = [] {
      auto made = std::make_unique<Workers>();
      process::keep_usable_across_fork(made->mutex);
      published.store(made.get());
      process::at_exit(wait_for_workers);
      return made.release();
    }();
    return *workers;
  }

  static void wait_for_workers() noexcept;

  // For `exit`, which must not wait for another thread that is creating the instance.
  static inline std::atomic<Workers*> published{nullptr};
};

// Counts the guards of this thread. A release on it may call exit, which must not wait for its own thread.
int& depth_here() noexcept {
  thread_local int depth = 0;
  return depth;
}

void Workers::wait_for_workers() noexcept {
  auto& workers = *published.load();
  if (workers.process != getpid()) return;  // this child does not have the threads
  std::unique_lock lock(workers.mutex);
  workers.changed.wait_for(lock, kExitPatience, [&] { return workers.busy == depth_here(); });
}

}  // namespace

void start(std::function<void()> body) {
  Workers::instance();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(std::move(body)).detach();
  } catch (const std::system_error& e) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    // The system reports both with the same error.
    throw Error(ENOMEM, std::string("no thread can be started, for want of memory or of threads: ") + e.what());
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

DriverCallGuard::DriverCallGuard() {
  auto& workers = Workers::instance();
  const std::lock_guard lock(workers.mutex);
  is_allowed_ = !process::exit_has_begun();
  if (!is_allowed_) return;
  ++workers.busy;
  ++depth_here();
}

DriverCallGuard::~DriverCallGuard() {
  if (!is_allowed_) return;
  auto& workers = Workers::instance();
  const std::lock_guard lock(workers.mutex);
  --workers.busy;
  --depth_here();
  workers.changed.notify_all();
}

}  // namespace arrowdevice::background
