// SPDX-License-Identifier: Apache-2.0
#include "machine/control.h"

#include "machine/machine.h"

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT void standin_fail_nth(const char* call, int64_t n, int code) {
  standin::machine().calls().fail_nth(call, n, code);
}

EXPORT void standin_fail_no_more() { standin::machine().calls().fail_no_more(); }

EXPORT void standin_hold_call(const char* call) { standin::machine().calls().hold_call(call); }

EXPORT int64_t standin_calls(const char* call) { return standin::machine().calls().count(call); }

EXPORT int64_t standin_failed() { return standin::machine().calls().failed(); }

EXPORT int64_t standin_pool_threshold(int device) { return standin::machine().pool_threshold(device); }

EXPORT void standin_hold() { standin::machine().hold(); }

EXPORT void standin_resume() { standin::machine().resume(); }

EXPORT void standin_live(int64_t* allocations, int64_t* streams, int64_t* events) {
  const standin::Live live = standin::machine().live();
  *allocations = 0;
  for (const int64_t n : live.allocations) *allocations += n;
  *streams = live.streams;
  *events = live.events;
}
}
