// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace arrowdevice::process {
namespace {

constexpr size_t kMostExitFunctions = 8;

std::atomic<bool> exiting{false};
std::atomic<bool> opened{false};
std::atomic<bool> forked{false};
std::array<std::atomic<void (*)()>, kMostExitFunctions> exit_functions{};
std::atomic<size_t> exit_function_count{0};

void on_exit_begun() {
  if (exiting.exchange(true)) return;
  const size_t count = exit_function_count.load();
  for (size_t i = 0; i < count; ++i) {
    if (auto* function = exit_functions[i].load()) function();
  }
}

void on_fork_in_child() {
  if (opened.load()) forked.store(true);
}

// The mutexes to lock at a fork. Never destroyed, because the process may fork until it ends.
struct GuardedMutexes {
  std::mutex list;
  std::vector<std::mutex*> mutexes;

  static GuardedMutexes& instance() {
    static auto* const guarded = new GuardedMutexes;
    return *guarded;
  }
};

bool try_lock_all(const std::vector<std::mutex*>& mutexes) {
  for (size_t i = 0; i < mutexes.size(); ++i) {
    if (mutexes[i]->try_lock()) continue;
    while (i > 0) mutexes[--i]->unlock();
    return false;
  }
  return true;
}

// Locks all mutexes or none, and holds none while it waits. A thread that holds a mutex may need the list or another
// mutex.
void lock_before_fork() {
  auto& guarded = GuardedMutexes::instance();
  for (;;) {
    guarded.list.lock();
    if (try_lock_all(guarded.mutexes)) return;
    guarded.list.unlock();
    std::this_thread::yield();
  }
}

void unlock_after_fork() {
  auto& guarded = GuardedMutexes::instance();
  for (auto* mutex : guarded.mutexes) mutex->unlock();
  guarded.list.unlock();
}

bool register_for_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) {
  if (pthread_atfork(before, after_in_parent, after_in_child) != 0) throw std::bad_alloc();
  return true;
}

}  // namespace

void watch_exit() noexcept {
  // If the table is full, it already contains this handler. A failure to add the handler again then loses only the
  // order.
  [[maybe_unused]] const int added = std::atexit(on_exit_begun);
}

bool exit_has_begun() noexcept { return exiting.load(std::memory_order_acquire); }

void at_exit(void (*function)()) noexcept {
  const size_t place = exit_function_count.fetch_add(1);
  assert(place < kMostExitFunctions);
  exit_functions[place].store(function);
}

void drivers_opened() {
  [[maybe_unused]] static const bool registered = register_for_fork(nullptr, nullptr, on_fork_in_child);
  opened.store(true);
}

void run_in_children(void (*function)()) { register_for_fork(nullptr, nullptr, function); }

int generation() {
  static std::atomic<int> forks{0};
  [[maybe_unused]] static const bool registered = register_for_fork(nullptr, nullptr, [] { ++forks; });
  return forks.load(std::memory_order_relaxed);
}

void keep_usable_across_fork(std::mutex& mutex) {
  [[maybe_unused]] static const bool registered =
      register_for_fork(lock_before_fork, unlock_after_fork, unlock_after_fork);
  auto& guarded = GuardedMutexes::instance();
  const std::lock_guard lock(guarded.list);
  guarded.mutexes.push_back(&mutex);
}

void forget_across_fork(std::mutex& mutex) noexcept {
  auto& guarded = GuardedMutexes::instance();
  const std::lock_guard lock(guarded.list);
  std::erase(guarded.mutexes, &mutex);
}

bool is_forked_child() noexcept { return forked.load(std::memory_order_acquire); }

}  // namespace arrowdevice::process
