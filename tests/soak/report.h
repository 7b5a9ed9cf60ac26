// SPDX-License-Identifier: Apache-2.0
// The results of a soak so far and its errors. Thread-safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "support/calls.h"

namespace soak {

// A failed expectation ends the operation, but the run continues.
using Wrong = arrowdevice::testing::Failure;
using arrowdevice::testing::expect;
using arrowdevice::testing::sized;

[[noreturn]] void wrong(const std::string& what);
void expect_equal(int64_t is, int64_t expected, const char* what);
void expect_same(const std::string& difference);  // the expected value is ""

struct Tally {
  std::atomic<int64_t> arrays{0};       // read back and compared
  std::atomic<int64_t> bytes{0};        // of their buffers, and of buffers without arrays
  std::atomic<int64_t> faults{0};       // that hit a call of the library
  std::atomic<int64_t> failed{0};       // of these calls, those that failed; the others succeeded
  std::atomic<int64_t> spoiled{0};      // calls that failed because an event of their input failed
  std::atomic<int64_t> interrupted{0};  // streams that ended with a fault on a thread of theirs
  std::atomic<int64_t> exhausted{0};    // calls for which a device or a pool had no memory
  std::atomic<int64_t> timed_out{0};    // calls that reached their short timeout
  std::atomic<int64_t> wrong{0};
};

Tally& tally();

// Writes a line to standard error and counts another error.
void note_wrong(const std::string& where, const std::string& what);
bool is_too_much_wrong();

// Returns bytes of the process: "VmHWM" is the peak, "VmRSS" the current value.
int64_t memory_of_process(const char* which);

// Returns the allocated bytes of host memory, or 0 if the allocator does not report them.
int64_t allocated_bytes();

}  // namespace soak
