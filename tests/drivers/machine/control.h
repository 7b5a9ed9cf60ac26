// SPDX-License-Identifier: Apache-2.0
// A test controls a stand-in through these functions. It finds them in the library like the backend finds
// the vendor's.
#pragma once

#include <cstdint>

extern "C" {

// Makes the nth call from now on fail, with its usual code if `code` is 0.
void standin_fail_nth(const char* call, int64_t n, int code);
void standin_fail_no_more();
// Blocks each thread that makes this call until another call or "" is set.
void standin_hold_call(const char* call);
// Returns the number of calls so far. "pageable copy" names the calls that copy host memory unknown to the driver.
// "overlapping batch" names the batches that ask for an overlap with kernels.
int64_t standin_calls(const char* call);
int64_t standin_failed();
// Stop and resume all GPUs. Pending work stays pending in between.
void standin_hold();
void standin_resume();
// Returns the numbers of live allocations, streams and events.
void standin_live(int64_t* allocations, int64_t* streams, int64_t* events);
// Returns the largest release threshold of the pools that the program created on a GPU, or -1 without such pools.
int64_t standin_pool_threshold(int device);
// Returns the name of an available entry point, or NULL past the last.
const char* standin_entry_point(int64_t index);
}
