// SPDX-License-Identifier: Apache-2.0
// The C functions for the version, the log and deferred work, and what all of these files use.
#include "api/handles.h"
#include "base/deadline.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "device/deferred.h"
#include "link/release_pipes.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own

void api::refuse_null(const char* name) { throw Error(EINVAL, std::string(name) + " is NULL"); }

extern "C" {

ARROWDEVICE_API const char* arrowdevice_version(void) { return ARROWDEVICE_VERSION; }

ARROWDEVICE_API void arrowdevice_log_set_handler(void (*handler)(void*, int, const char*), void* user) {
  log_set_handler(handler, user);
}

ARROWDEVICE_API void arrowdevice_interrupt_set_check(int (*check)(void*), void* user) {
  interrupt::set_check(check, user);
}

ARROWDEVICE_API int arrowdevice_deferred_set_manual(int on, arrowdevice_error* error) {
  return guarded(error, [&] { device::DeferredWork::instance().set_manual(on != 0); });
}

ARROWDEVICE_API int arrowdevice_deferred_run(int64_t max, int64_t* done, arrowdevice_error* error) {
  return guarded(error, [&] {
    const int64_t n_returned = link::ReleasePipes::run(max);
    const int64_t n = n_returned + device::DeferredWork::instance().run(max < 0 ? max : max - n_returned);
    if (done != nullptr) *done = n;
  });
}

ARROWDEVICE_API int arrowdevice_wait_idle(int64_t timeout_ns, arrowdevice_error* error) {
  return guarded(error, [&] {
    if (!device::DeferredWork::instance().wait_idle(Deadline(timeout_ns))) {
      throw Error(ETIMEDOUT, "deferred work is not done yet");
    }
  });
}

}  // extern "C"
