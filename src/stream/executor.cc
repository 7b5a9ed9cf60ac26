// SPDX-License-Identifier: Apache-2.0
#include "stream/executor.h"

#include <cassert>
#include <cerrno>
#include <mutex>

#include "base/background.h"
#include "base/condition_variable.h"
#include "base/error.h"

namespace arrowdevice::stream {
namespace {

class OwnThread final : public Executor {
 public:
  OwnThread() {
    background::start([shared = shared_] { shared->run(); });
  }
  ~OwnThread() override {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_ending = true;
    shared_->changed.notify_one();
  }

  int submit(void (*task)(void*), void* arg) noexcept override {
    const std::lock_guard lock(shared_->mutex);
    assert(shared_->task == nullptr);
    shared_->task = task;
    shared_->arg = arg;
    shared_->changed.notify_one();
    return 0;
  }

 private:
  // Shared with the thread, so it outlives the executor while the thread runs.
  struct Shared {
    std::mutex mutex;  // guards all members below
    ConditionVariable changed;
    void (*task)(void*) = nullptr;
    void* arg = nullptr;
    bool is_ending = false;

    void run() noexcept {
      std::unique_lock lock(mutex);
      for (;;) {
        changed.wait(lock, [this] { return task != nullptr || is_ending; });
        if (task == nullptr) return;
        auto* const taken = task;
        task = nullptr;
        lock.unlock();
        taken(arg);
        lock.lock();
      }
    }
  };

  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

class ProgramsExecutor final : public Executor {
 public:
  using Submit = int (*)(void* user, void (*task)(void*), void* arg);

  ProgramsExecutor(Submit function, void* user) noexcept : submit_(function), user_(user) {}

  int submit(void (*task)(void*), void* arg) noexcept override { return submit_(user_, task, arg); }

 private:
  const Submit submit_;
  void* const user_;
};

}  // namespace

std::unique_ptr<Executor> own_thread() { return std::make_unique<OwnThread>(); }

std::unique_ptr<Executor> programs_executor(int (*submit)(void* user, void (*task)(void*), void* arg), void* user) {
  return std::make_unique<ProgramsExecutor>(submit, user);
}

}  // namespace arrowdevice::stream
