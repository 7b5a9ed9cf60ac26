// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/background.h"
#include "base/condition_variable.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/process.h"

namespace arrowdevice::parallel {
namespace {

constexpr const char* kVariable = "ARROWDEVICE_COPY_THREADS";
// With more threads, memory and links limit a copy, not processors.
constexpr int64_t kMostByItself = 8;
constexpr int64_t kMostAsked = 256;
// The time that a helper thread waits for the next call. The copies of one stream or table follow each other faster.
constexpr auto kIdleTime = std::chrono::milliseconds(200);

class Helper;

// The processors that threads may use, or nullopt if the system does not say.
using Processors = std::optional<cpu_set_t>;

Processors processors_of_this_thread() noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return std::nullopt;
  return allowed;
}

// Returns the processors for the helper threads of a caller.
Processors near(const Processors& allowed, int node, const char* sysfs) noexcept {
  if (!allowed || node < 0) return allowed;
  try {
    const cpu_set_t of_node = numa::processors_of(node, sysfs);
    cpu_set_t both;
    CPU_AND(&both, &of_node, &*allowed);
    return CPU_COUNT(&both) != 0 ? both : allowed;
  } catch (const std::exception&) {
    return allowed;  // The file cannot be read without memory.
  }
}

// The threads of a call. It outlives the call, because a thread that starts late still reads it.
class Crew {
 public:
  Crew(const std::function<void()>& body, int node, const char* sysfs, std::atomic<bool>* give_up)
      : body_(body),
        give_up_(give_up),
        of_caller_(processors_of_this_thread()),
        of_helpers_(near(of_caller_, node, sysfs)) {}

  // A new thread begins with the processors of its caller.
  const Processors& of_caller() const noexcept { return of_caller_; }

  // Runs on a helper thread.
  void help(Helper& helper) noexcept;

  // Runs on the calling thread.
  void lead() {
    work();
    std::unique_lock lock(mutex_);
    is_over_ = true;
    const auto are_done = [this] { return helping_ == 0; };
    if (give_up_ != nullptr) wait_until_interrupted(lock, are_done);
    changed_.wait(lock, are_done);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  bool enter() noexcept {
    const std::lock_guard lock(mutex_);
    if (is_over_) return false;
    ++helping_;
    return true;
  }

  // Waits for the helpers. If the thread's check ends the wait, the helpers give up.
  template <typename Predicate>
  void wait_until_interrupted(std::unique_lock<std::mutex>& lock, const Predicate& are_done) {
    try {
      interrupt::wait(changed_, lock, Deadline(ARROWDEVICE_NO_TIMEOUT), are_done);
    } catch (...) {
      lock.lock();
      if (!failure_) failure_ = std::current_exception();
      *give_up_ = true;
    }
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

  // Neither is used after the call has returned.
  const std::function<void()>& body_;
  std::atomic<bool>* const give_up_;
  const Processors of_caller_;
  const Processors of_helpers_;
  std::mutex mutex_;  // guards all members below
  ConditionVariable changed_;
  int helping_ = 0;
  bool is_over_ = false;
  std::exception_ptr failure_;
};

int gives_up(void* give_up) { return *static_cast<std::atomic<bool>*>(give_up) ? 1 : 0; }

// The helper threads that wait for a call. A forked child has none of them.
struct IdleHelpers {
  std::mutex mutex;
  Helper* last = nullptr;  // began to wait last; guarded by the mutex
};

// Never destroyed, because helper threads may use it until the process ends.
constinit IdleHelpers idle;

// A helper thread. The object is on the stack of its thread.
class Helper {
 public:
  // Throws if a child could not use the list after a fork.
  static void prepare() {
    [[maybe_unused]] static const bool is_prepared = [] {
      if (pthread_atfork(nullptr, nullptr, [] { idle.last = nullptr; }) != 0) throw std::bad_alloc();
      process::keep_usable_across_fork(idle.mutex);
      return true;
    }();
  }

  // Works for the first crew, and for each that comes while the thread waits.
  static void run(std::shared_ptr<Crew> crew) noexcept {
    Helper helper(crew->of_caller());
    while (crew != nullptr) {
      crew->help(helper);
      crew = nullptr;  // frees the crew before the wait
      crew = helper.next_crew();
    }
  }

  // Gives the crew to an idle thread. Returns false if there is none. Takes the thread that began to wait last, so that
  // threads that are not needed any more end.
  static bool wake_one(const std::shared_ptr<Crew>& crew) noexcept {
    const std::lock_guard lock(idle.mutex);
    Helper* const helper = idle.last;
    if (helper == nullptr) return false;
    idle.last = helper->before_;
    helper->crew_ = crew;
    helper->changed_.notify_one();  // under the lock, because the object ends with its thread
    return true;
  }

  // Moves the thread to the processors. A thread that cannot move works where it is.
  void use(const Processors& processors) noexcept {
    if (!processors || (processors_ && CPU_EQUAL(&*processors_, &*processors))) return;
    if (sched_setaffinity(0, sizeof *processors, &*processors) == 0) processors_ = processors;
  }

  // Lets calls find the thread.
  void offer() noexcept {
    const std::lock_guard lock(idle.mutex);
    before_ = std::exchange(idle.last, this);
  }

 private:
  explicit Helper(const Processors& processors) noexcept : processors_(processors) {}

  // Waits for a crew. Returns NULL if none has come in time. The thread is then not idle any more.
  std::shared_ptr<Crew> next_crew() noexcept {
    std::unique_lock lock(idle.mutex);
    if (!changed_.wait_for(lock, kIdleTime, [this] { return crew_ != nullptr; })) withdraw();
    return std::move(crew_);
  }

  // The caller holds the lock.
  void withdraw() noexcept {
    Helper** place = &idle.last;
    while (*place != this) place = &(*place)->before_;
    *place = before_;
  }

  Processors processors_;  // those that the thread uses
  ConditionVariable changed_;
  std::shared_ptr<Crew> crew_;  // guarded by the mutex of `idle`, as the next member
  Helper* before_ = nullptr;    // the idle thread that began to wait before this one
};

// Offers the thread before it leaves the crew, so that the caller's next call finds it.
void Crew::help(Helper& helper) noexcept {
  const background::DriverCallGuard busy;
  if (!busy.is_allowed() || !enter()) return helper.offer();
  helper.use(of_helpers_);
  if (give_up_ != nullptr) interrupt::set_check(gives_up, give_up_);
  work();
  interrupt::set_check(nullptr, nullptr);
  helper.offer();
  leave();
}

// Returns the number of processors in the affinity mask, which hardware_concurrency() ignores on some systems.
int64_t processors() noexcept {
  const Processors allowed = processors_of_this_thread();
  return allowed ? CPU_COUNT(&*allowed) : std::thread::hardware_concurrency();
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

void run(int threads, const std::function<void()>& body, int node, const char* sysfs, std::atomic<bool>* give_up) {
  if (threads <= 1) return body();
  const auto crew = std::make_shared<Crew>(body, node, sysfs, interrupt::is_set() ? give_up : nullptr);
  try {
    Helper::prepare();
    for (int i = 1; i < threads; ++i) {
      if (!Helper::wake_one(crew)) background::start([first = crew]() mutable { Helper::run(std::move(first)); });
    }
  } catch (const std::exception&) {
    // If a thread cannot start, the existing threads do the work.
  }
  crew->lead();
}

}  // namespace arrowdevice::parallel
