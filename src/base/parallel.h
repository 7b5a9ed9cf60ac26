// SPDX-License-Identifier: Apache-2.0
// Work that several threads share during one call.
#pragma once

#include <atomic>
#include <functional>

#include "base/numa.h"

namespace arrowdevice::parallel {

// Returns the number of threads that a large copy may use. This is ARROWDEVICE_COPY_THREADS at the first call, else the
// number of processors of this process, at most 8. Throws Error(EINVAL) if the variable is not a number of at least 1.
int copy_threads();

// Reads the number from the present environment.
int read_copy_threads();

// Runs `body` on the calling thread and on up to `threads` - 1 others. Each run takes its share of the work until no
// work is left. Returns after all runs have returned; a thread that has not begun by then never runs `body`. Rethrows
// the first exception; the other runs must find out themselves that they may stop. If `give_up` is not NULL, it ends
// the waits of the helper threads when it is true, and the calling thread's check makes it true. If a thread cannot
// start, fewer threads do the work. After its work, a helper thread waits for the next call for a short while. A call
// does not wait for busy helper threads, but starts others.
//
// Helper threads run on those processors of a NUMA node that the calling thread may use, if there are any. Otherwise,
// and if `node` is -1, they run on all processors that the calling thread may use. The processors of the calling thread
// do not change. `sysfs` is the folder that describes the nodes.
void run(int threads, const std::function<void()>& body, int node = -1, const char* sysfs = numa::kSysfs,
         std::atomic<bool>* give_up = nullptr);

}  // namespace arrowdevice::parallel
