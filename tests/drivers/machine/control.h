// SPDX-License-Identifier: Apache-2.0
// A stand-in in the hands of a test, which finds these functions in the library as the backend finds the vendor's.
#pragma once

#include <cstdint>

extern "C" {

// The nth call from now on fails, with its usual code if `code` is 0.
void standin_fail_nth(const char* call, int64_t n, int code);
void standin_fail_no_more();
// Whoever makes that call stays in it until another one is named, or "".
void standin_hold_call(const char* call);
int64_t standin_calls(const char* call);
int64_t standin_failed();
// Between them no GPU does anything: what is pending stays so.
void standin_hold();
void standin_resume();
// Allocations, streams and events that live.
void standin_live(int64_t* allocations, int64_t* streams, int64_t* events);
// The entry points that are there, one after the other; NULL past the last.
const char* standin_entry_point(int64_t index);
}
