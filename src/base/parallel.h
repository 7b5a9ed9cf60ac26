// SPDX-License-Identifier: Apache-2.0
// Work that several threads share for as long as one call takes.
#pragma once

#include <functional>

namespace arrowdevice::parallel {

// How many threads a large copy may use: ARROWDEVICE_COPY_THREADS as it was when this was asked first, else as many as
// there are processors for this process, 8 at most. Throws Error(EINVAL) where the variable is no number of 1 or more.
int copy_threads();

// What the environment says now.
int read_copy_threads();

// Runs `body`, which takes its share of the work until none is left, on the calling thread and on up to `threads` - 1
// others. Returns when all have returned; one that has not begun by then never does. What one of them throws is thrown
// here, the first of several; the others are to find out by themselves that they may stop. Where a thread cannot be
// started, fewer do the work.
void run(int threads, const std::function<void()>& body);

}  // namespace arrowdevice::parallel
