// SPDX-License-Identifier: Apache-2.0
#include "held_locks.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "support/callback.h"

namespace {

thread_local int held = 0;

int counted(int code) noexcept {
  if (code == 0) ++held;
  return code;
}

void check(const char* callback) noexcept {
  if (held == 0) return;
  std::fprintf(stderr, "the library holds %d locks while it calls %s\n", held, callback);
  std::abort();
}

[[maybe_unused]] const bool is_checking = (arrowdevice::testing::set_callback_check(check), true);

}  // namespace

// The linker gives these names to the calls of this program and to the original functions.
extern "C" {

int __real_pthread_mutex_lock(pthread_mutex_t*);
int __real_pthread_mutex_trylock(pthread_mutex_t*);
int __real_pthread_mutex_unlock(pthread_mutex_t*);
int __real_pthread_rwlock_rdlock(pthread_rwlock_t*);
int __real_pthread_rwlock_tryrdlock(pthread_rwlock_t*);
int __real_pthread_rwlock_wrlock(pthread_rwlock_t*);
int __real_pthread_rwlock_trywrlock(pthread_rwlock_t*);
int __real_pthread_rwlock_unlock(pthread_rwlock_t*);
int __wrap_pthread_mutex_lock(pthread_mutex_t*);
int __wrap_pthread_mutex_trylock(pthread_mutex_t*);
int __wrap_pthread_mutex_unlock(pthread_mutex_t*);
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t*);
int __wrap_pthread_rwlock_tryrdlock(pthread_rwlock_t*);
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t*);
int __wrap_pthread_rwlock_trywrlock(pthread_rwlock_t*);
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t*);

int __wrap_pthread_mutex_lock(pthread_mutex_t* lock) { return counted(__real_pthread_mutex_lock(lock)); }
int __wrap_pthread_mutex_trylock(pthread_mutex_t* lock) { return counted(__real_pthread_mutex_trylock(lock)); }
int __wrap_pthread_mutex_unlock(pthread_mutex_t* lock) {
  --held;
  return __real_pthread_mutex_unlock(lock);
}
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t* lock) { return counted(__real_pthread_rwlock_rdlock(lock)); }
int __wrap_pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) { return counted(__real_pthread_rwlock_tryrdlock(lock)); }
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t* lock) { return counted(__real_pthread_rwlock_wrlock(lock)); }
int __wrap_pthread_rwlock_trywrlock(pthread_rwlock_t* lock) { return counted(__real_pthread_rwlock_trywrlock(lock)); }
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  --held;
  return __real_pthread_rwlock_unlock(lock);
}

}  // extern "C"

namespace library_test {

int held_locks() noexcept { return held; }

void ForeignLock::lock() {
  mutex_.lock();
  --held;
}

void ForeignLock::unlock() {
  ++held;
  mutex_.unlock();
}

}  // namespace library_test
