// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/background.h"
#include "base/environment.h"
#include "base/error.h"

namespace arrowdevice::parallel {
namespace {

constexpr const char* kVariable = "ARROWDEVICE_COPY_THREADS";
// With more threads, memory and links limit a copy, not processors.
constexpr int64_t kMostByItself = 8;
constexpr int64_t kMostAsked = 256;

// The threads of a call. It outlives the call, because a thread that starts late still reads it.
class Crew {
 public:
  explicit Crew(const std::function<void()>& body) : body_(body) {}

  // Runs on a helping thread.
  void help() noexcept {
    const background::DriverCallGuard busy;
    if (!busy.is_allowed() || !enter()) return;
    work();
    leave();
  }

  // Runs on the calling thread.
  void lead() {
    work();
    std::unique_lock lock(mutex_);
    is_over_ = true;
    changed_.wait(lock, [this] { return helping_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  bool enter() noexcept {
    const std::lock_guard lock(mutex_);
    if (is_over_) return false;
    ++helping_;
    return true;
  }

  void leave() noexcept {
    const std::lock_guard lock(mutex_);
    --helping_;
    changed_.notify_one();
  }

  void work() noexcept {
    try {
      body_();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  const std::function<void()>& body_;  // not used after the call has returned
  std::mutex mutex_;                   // guards all members below
  std::condition_variable changed_;
  int helping_ = 0;
  bool is_over_ = false;
  std::exception_ptr failure_;
};

// Returns the number of processors in the affinity mask, which hardware_concurrency() ignores on some systems.
int64_t processors() noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return std::thread::hardware_concurrency();
}

}  // namespace

int copy_threads() {
  static const int threads = read_copy_threads();
  return threads;
}

int read_copy_threads() {
  const auto asked = environment::number(kVariable);
  if (!asked) return static_cast<int>(std::clamp(processors(), int64_t{1}, kMostByItself));
  if (*asked < 1)
    throw Error(EINVAL, std::string(kVariable) + "=" + std::to_string(*asked) + ": not a number of threads");
  return static_cast<int>(std::min(*asked, kMostAsked));
}

void run(int threads, const std::function<void()>& body) {
  if (threads <= 1) return body();
  const auto crew = std::make_shared<Crew>(body);
  try {
    for (int i = 1; i < threads; ++i) background::start([crew] { crew->help(); });
  } catch (const std::exception&) {
    // If a thread cannot start, the existing threads do the work.
  }
  crew->lead();
}

}  // namespace arrowdevice::parallel
